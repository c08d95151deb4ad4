"""What is shipped beside the code: manifests, image, chores and the configuration table say what the code does."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from bot.config_model import Chart, File, Section, Waits, read_duration
from bot.config_sources import SECRETS, Addresses, Environment
from state.policy import ChartChoice, Durations, Policy

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def documents(name: str) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all((DEPLOY / name).read_text()) if document]


def of_kind(name: str, kind: str) -> dict[str, Any]:
    return next(document for document in documents(name) if document["kind"] == kind)


def pod() -> dict[str, Any]:
    spec: dict[str, Any] = of_kind("kubernetes.yaml", "StatefulSet")["spec"]["template"]["spec"]
    return spec


def test_given_the_manifest_when_read_then_two_replicas_each_own_their_name() -> None:
    spec = of_kind("kubernetes.yaml", "StatefulSet")["spec"]
    service = of_kind("kubernetes.yaml", "Service")
    names = [row for row in pod()["containers"][0]["env"] if row["name"] == "GPU_MIGRATE_REPLICA"]

    assert (spec["replicas"], spec["podManagementPolicy"]) == (2, "Parallel")
    assert names[0]["valueFrom"] == {"fieldRef": {"fieldPath": "metadata.name"}}
    assert (service["metadata"]["name"], service["spec"]["clusterIP"]) == (spec["serviceName"], "None")
    assert {document["kind"] for document in documents("kubernetes.yaml")} == {
        "ServiceAccount",
        "ConfigMap",
        "StatefulSet",
        "Service",
        "PodDisruptionBudget",
        "NetworkPolicy",
    }


def test_given_the_manifest_when_a_node_is_drained_then_one_replica_stays_and_has_time_to_hand_over() -> None:
    budget = of_kind("kubernetes.yaml", "PodDisruptionBudget")["spec"]
    labels = of_kind("kubernetes.yaml", "StatefulSet")["spec"]["template"]["metadata"]["labels"]
    apart = pod()["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    terms = {term["podAffinityTerm"]["topologyKey"]: term["podAffinityTerm"]["labelSelector"] for term in apart}

    assert (budget["maxUnavailable"], budget["selector"]["matchLabels"]) == (1, labels)
    assert terms["kubernetes.io/hostname"] == terms["topology.kubernetes.io/zone"] == {"matchLabels": labels}
    assert pod()["terminationGracePeriodSeconds"] >= 30


def test_given_the_pod_when_read_then_it_is_restricted_and_has_no_rights_where_it_runs() -> None:
    spec = pod()
    container = spec["containers"][0]

    assert spec["automountServiceAccountToken"] is False
    assert spec["enableServiceLinks"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert not {d["kind"] for d in documents("kubernetes.yaml")} & {
        "ClusterRole",
        "ClusterRoleBinding",
        "Role",
        "RoleBinding",
    }
    assert next(v for v in spec["volumes"] if v["name"] == "scratch")["emptyDir"]["medium"] == "Memory"


def test_given_the_pod_when_read_then_secrets_come_as_files_of_a_secret_and_stand_nowhere() -> None:
    container = pod()["containers"][0]
    names = {row["name"] for row in container["env"] if "value" in row}
    text = (DEPLOY / "kubernetes.yaml").read_text()

    assert names == {f"{name}_FILE" for name in SECRETS}
    assert "kind: Secret" not in text
    assert not re.search(r"xox[bp]-|xapp-|redis://[^ ]*:[^ ]*@", text)
    assert container["startupProbe"]["httpGet"]["path"] == "/healthz"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_given_the_shipped_configuration_when_read_then_it_is_valid_and_only_observes() -> None:
    content = yaml.safe_load(of_kind("kubernetes.yaml", "ConfigMap")["data"]["config.yaml"])
    file = File.model_validate(content)

    assert file.defaults.mode == "observe"
    assert all(cluster.mode is None for cluster in file.clusters.values())
    assert file.replica == ""  # each pod bears its own name


def test_given_the_target_clusters_role_when_read_then_it_is_no_admin_and_never_deletes_pods() -> None:
    rules = of_kind("cluster-rbac.yaml", "ClusterRole")["rules"]
    granted = {(resource, verb) for rule in rules for resource in rule["resources"] for verb in rule["verbs"]}

    assert not any("*" in (resource, verb) for resource, verb in granted)
    assert {verb for resource, verb in granted if resource == "pods"} == {"get", "list", "watch"}
    assert ("pods/eviction", "create") in granted
    assert {verb for resource, verb in granted if resource == "secrets"} == {"get", "list"}
    assert {verb for _, verb in granted} <= {"get", "list", "watch", "patch", "create"}
    assert {resource for resource, verb in granted if verb in ("patch", "create")} == {"nodes", "pods/eviction"}
    assert "cluster-admin" not in (DEPLOY / "cluster-rbac.yaml").read_text()


def test_given_the_bindings_when_read_then_they_bind_our_roles_to_one_user() -> None:
    bindings = [d for d in documents("cluster-rbac.yaml") if d["kind"].endswith("Binding")]

    assert {(b["roleRef"]["kind"], b["roleRef"]["name"]) for b in bindings} == {
        ("ClusterRole", "gpu-migrate"),
        ("Role", "gpu-migrate"),
    }
    assert {(s["kind"], s["name"].partition("#")[0]) for b in bindings for s in b["subjects"]} == {("User", "IAM")}


def test_given_the_slack_manifest_when_read_then_it_asks_for_what_is_used() -> None:
    manifest = yaml.safe_load((DEPLOY / "slack-manifest.yaml").read_text())
    command = manifest["features"]["slash_commands"][0]

    assert manifest["settings"]["socket_mode_enabled"] is True
    assert manifest["settings"]["interactivity"]["is_enabled"] is True
    assert (command["command"], command["should_escape"]) == ("/gpu-migrate", True)
    assert len(manifest["display_information"]["description"]) <= 140
    assert len(command["usage_hint"]) <= 1000
    assert set(manifest["oauth_config"]["scopes"]["bot"]) == {
        "commands",
        "chat:write",
        "channels:read",
        "groups:read",
        "channels:history",
        "groups:history",
        "im:write",
    }


def test_given_the_image_when_read_then_it_runs_as_nobody_and_holds_no_pretend_world() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    stages = [line for line in lines if line.startswith("FROM ")]
    users = [line.split()[1] for line in lines if line.startswith("USER ")]

    assert len(stages) == 2
    assert users == ["10001:10001"]
    assert "PYTHONSAFEPATH=1" in "\n".join(lines)
    assert any(line.startswith("HEALTHCHECK") for line in lines)
    assert not any("sandbox" in line or "tests" in line for line in lines if line.startswith(("COPY", "ADD")))
    for line in lines:
        if line.startswith("COPY ") and "--from" not in line:
            assert all((ROOT / source).exists() for source in line.split()[1:-1])


def test_given_the_build_context_when_read_then_only_what_is_named_gets_in() -> None:
    lines = (ROOT / ".dockerignore").read_text().split()
    let_in = {line[1:] for line in lines if line.startswith("!")}

    assert lines[0] == "*"
    assert let_in == {"pyproject.toml", "README.md", "bot", "handlers", "state", "tools/fetch_tools.py"}


def rows(heading: str) -> dict[str, str]:
    """Key → default of the table under a heading of docs/configuration.md."""
    text = (ROOT / "docs" / "configuration.md").read_text()
    part = re.split(r"^#+ ", text.split(heading, 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    cells = [line.split("|") for line in part.splitlines() if line.startswith("| `")]
    return {row[1].strip(" `"): row[2].strip(" `") for row in cells}


def test_given_the_table_when_compared_then_every_key_of_the_code_is_in_it_and_no_other() -> None:
    assert set(rows("## Keys of the installation")) == set(File.model_fields)
    assert set(rows("## Choices for clusters")) == set(Section.model_fields)
    assert set(rows("### `chart`")) == set(Chart.model_fields)
    assert set(rows("### `durations`")) == set(Waits.model_fields)
    assert set(rows("## Secrets")) == set(SECRETS)


def test_given_the_table_when_compared_then_defaults_are_those_of_the_code() -> None:
    told = {key: read_duration(value) for key, value in rows("### `durations`").items()}
    chart = rows("### `chart`")

    assert told == {field.name: getattr(Durations(), field.name) for field in fields(Durations)}
    assert {key: chart[key] for key in ("repository", "chart", "version", "release", "namespace")} == {
        key: getattr(ChartChoice(), key) for key in ("repository", "chart", "version", "release", "namespace")
    }
    installation = rows("## Keys of the installation")
    for key in (
        "language",
        "http_host",
        "http_port",
        "slack_api_url",
        "iks_url",
        "iam_url",
        "iks_requests",
        "helm",
        "log_level",
    ):
        assert installation[key] == str(File.model_fields[key].default)
    assert rows("## Choices for clusters")["attempts"] == str(Policy().attempts)


def test_given_the_table_when_compared_then_every_variable_is_named() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text()
    variables = {f"GPU_MIGRATE_{key.upper()}" for key in Environment.model_fields}
    variables |= {key.upper() for key in Addresses.model_fields}

    assert all(f"`{name}`" in text for name in variables)


def test_given_the_example_of_the_table_when_read_then_it_is_valid() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text()
    example = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert example

    assert File.model_validate(yaml.safe_load(example[1])).clusters["gpu-lab"].mode == "act"
