"""Real helm 4 against the pretend API server, with a chart of a ConfigMap, a Deployment and a custom resource."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.sandbox.kubernetes_scene import Scene, scene

TEMPLATES = """
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-settings"}
data: {level: "{{ .Values.level }}"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}-operator"}
spec:
  replicas: 1
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec: {containers: [{name: main, image: "busybox:{{ .Values.level }}"}]}
---
apiVersion: example.com/v1
kind: Policy
metadata: {name: only}
spec: {level: {{ .Values.level }}}
"""
CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: policies.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: policies, singular: policy, kind: Policy}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {level: {type: integer}}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""
CONFIG, OPERATORS, POLICIES = ("", "configmaps"), ("apps", "deployments"), ("example.com", "policies")


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[Scene]:
    async with scene() as made:
        yield made


def chart(folder: Path) -> str:
    for name in ("templates", "crds"):
        (folder / name).mkdir()
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: tiny\nversion: 0.1.0\n", encoding="utf-8")
    (folder / "values.yaml").write_text("level: 1\n", encoding="utf-8")
    (folder / "templates" / "all.yaml").write_text(TEMPLATES, encoding="utf-8")
    (folder / "crds" / "policy.yaml").write_text(CRD, encoding="utf-8")
    return str(folder)


async def test_given_a_chart_when_helm_installs_upgrades_rolls_back_and_uninstalls_then_the_cluster_follows(
    cluster: Scene, tmp_path: Path
) -> None:
    source, common = chart(tmp_path), ("-n", "gpu", "--wait", "--timeout", "30s")

    installed = await cluster.helm("install", "r", source, "--create-namespace", *common)
    assert installed.code == 0, installed.err
    assert (cluster.find(POLICIES, "only") or {})["spec"] == {"level": 1}

    upgraded = await cluster.helm("upgrade", "r", source, "--set", "level=2", *common)
    assert upgraded.code == 0, upgraded.err
    assert (cluster.find(CONFIG, "r-settings", "gpu") or {})["data"] == {"level": "2"}
    assert (cluster.find(OPERATORS, "r-operator", "gpu") or {})["metadata"]["generation"] == 2

    back = await cluster.helm("rollback", "r", "1", *common)
    history = json.loads((await cluster.helm("history", "r", "-n", "gpu", "-o", "json")).out)
    listed = json.loads((await cluster.helm("list", "-A", "-o", "json")).out)
    assert back.code == 0, back.err
    assert [row["status"] for row in history] == ["superseded", "superseded", "deployed"]
    assert [(row["name"], row["namespace"], row["status"]) for row in listed] == [("r", "gpu", "deployed")]
    assert (cluster.find(POLICIES, "only") or {})["spec"] == {"level": 1}

    removed = await cluster.helm("uninstall", "r", *common)
    assert removed.code == 0, removed.err
    assert cluster.find(OPERATORS, "r-operator", "gpu") is None
    assert cluster.find(POLICIES, "only") is None
    assert list(cluster.server.cluster.store.items(("", "secrets"), "gpu")) == []


async def test_given_a_field_owned_by_hand_when_helm_upgrades_it_then_the_conflict_names_the_owner(
    cluster: Scene, tmp_path: Path
) -> None:
    source = chart(tmp_path)
    installed = await cluster.helm("install", "r", source, "-n", "gpu", "--create-namespace")
    patch = '{"data":{"level":"9"}}'
    patched = await cluster.kubectl("patch", "cm", "r-settings", "-n", "gpu", "--type=merge", "-p", patch)

    refused = await cluster.helm("upgrade", "r", source, "-n", "gpu", "--set", "level=2")
    forced = await cluster.helm("upgrade", "r", source, "-n", "gpu", "--set", "level=2", "--force-conflicts")

    assert (installed.code, patched.code) == (0, 0), (installed.err, patched.err)
    assert refused.code != 0
    assert 'conflict with "kubectl-patch"' in refused.err
    assert forced.code == 0, forced.err
    assert (cluster.find(CONFIG, "r-settings", "gpu") or {})["data"] == {"level": "2"}


async def test_given_release_secrets_when_helm_writes_them_then_the_journal_keeps_no_data(
    cluster: Scene, tmp_path: Path
) -> None:
    await cluster.helm("install", "r", chart(tmp_path), "-n", "gpu", "--create-namespace")

    rows = [entry for entry in cluster.journal.entries() if entry.verb.endswith(" secrets")]
    assert [row.verb for row in rows] == ["create secrets", "update secrets"]
    assert all(row.request["body"] is None for row in rows)
