"""The stand-in chart: what it renders, against what the real chart renders; how the repository serves it."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from sandbox.faults import Faults
from sandbox.helm_repository.packaging import RELEASES, archive, archive_name, index
from sandbox.helm_repository.server import HelmRepository
from sandbox.serving import serve

Json = dict[str, Any]

ROOT = Path(__file__).parents[2]
RECORDED = json.loads((Path(__file__).parent / "test_chart_objects.json").read_text(encoding="utf-8"))
SETS = [(version, name) for version, sets in RECORDED.items() for name in sets]


def _helm() -> str:
    """The helm of this project, or the one in PATH; without one the test is skipped."""
    own = ROOT / ".tools" / "bin" / "helm"
    found = str(own) if own.exists() else shutil.which("helm")
    if found is None:
        pytest.skip("needs helm: make tools")
    return found


def _rendered(folder: Path, version: str, *extra: str, release: str = "gpu-operator") -> list[Json]:
    packed = folder / archive_name(version)
    packed.write_bytes(archive(version))
    command = [_helm(), "template", release, str(packed), "-n", "gpu-operator", "--include-crds", *extra]
    env = {**os.environ, "HELM_CACHE_HOME": str(folder), "HELM_CONFIG_HOME": str(folder), "HELM_DATA_HOME": str(folder)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def _facts(one: Json) -> list[Any]:
    meta = one["metadata"]
    hooks = (meta.get("annotations") or {}).get("helm.sh/hook", "")
    return [
        one["kind"],
        meta["name"],
        meta.get("namespace"),
        meta.get("labels") or {},
        hooks.split(",") if hooks else [],
    ]


@pytest.mark.parametrize(("version", "name"), SETS, ids=["-".join(row) for row in SETS])
def test_given_values_when_rendered_then_the_objects_are_those_of_the_real_chart(
    version: str, name: str, tmp_path: Path
) -> None:
    recorded = RECORDED[version][name]
    options = [part for value in recorded["set"] for part in ("--set", value)]

    found = sorted(map(_facts, _rendered(tmp_path, version, "--kube-version", "v1.36.2", *options)), key=str)

    assert found == sorted(recorded["objects"], key=str)


def test_given_a_generated_release_name_when_rendered_then_nfd_carries_it_and_the_operator_does_not(
    tmp_path: Path,
) -> None:
    objects = _rendered(tmp_path, "v26.7.0", release="gpu-operator-1778819096")
    names = {one["metadata"]["name"] for one in objects if one["kind"] in ("Deployment", "DaemonSet")}

    assert names == {
        "gpu-operator",
        "gpu-operator-1778819096-node-feature-discovery-gc",
        "gpu-operator-1778819096-node-feature-discovery-master",
        "gpu-operator-1778819096-node-feature-discovery-worker",
    }


def test_given_tolerations_and_a_driver_version_when_rendered_then_the_policy_carries_them(tmp_path: Path) -> None:
    values = ("daemonsets.tolerations[0].key=dedicated", "daemonsets.tolerations[0].operator=Exists")
    options = [part for value in (*values, "driver.version=590.1.2") for part in ("--set", value)]

    objects = _rendered(tmp_path, "v26.7.0", *options)
    policy = next(one for one in objects if one["kind"] == "ClusterPolicy")

    assert policy["spec"]["daemonsets"]["tolerations"] == [{"key": "dedicated", "operator": "Exists"}]
    assert policy["spec"]["driver"]["version"] == "590.1.2"
    assert "podDeletion" in policy["spec"]["driver"]["upgradePolicy"]


def test_given_no_crd_upgrade_when_rendered_then_the_hook_is_missing(tmp_path: Path) -> None:
    objects = _rendered(tmp_path, "v26.7.0", "--set", "operator.upgradeCRD=false")

    assert not [one for one in objects if one["metadata"]["name"] == "gpu-operator-upgrade-crd"]


def test_given_a_version_when_packed_twice_then_the_bytes_are_the_same() -> None:
    archive.cache_clear()
    first = archive("v26.7.0")
    archive.cache_clear()

    assert archive("v26.7.0") == first


def test_given_the_releases_when_indexed_then_each_is_listed_with_its_digest() -> None:
    entries = yaml.safe_load(index("http://repo"))["entries"]["gpu-operator"]

    assert [one["version"] for one in entries] == [one.version for one in RELEASES]
    assert entries[0]["urls"] == ["http://repo/gpu-operator-v26.7.0.tgz"]


async def test_given_the_repository_when_asked_then_index_archive_and_faults_are_served() -> None:
    faults = Faults()
    served = await serve(HelmRepository(faults).app())
    faults.add(system="helm", path="index", status=503, times=1)

    async with aiohttp.ClientSession(served.url, timeout=aiohttp.ClientTimeout(total=10)) as session:
        statuses = []
        for path in ("/index.yaml", "/index.yaml", "/gpu-operator-v26.3.3.tgz", "/gpu-operator-v1.tgz"):
            async with session.get(path) as answer:
                statuses.append(answer.status)
    await served.aclose()

    assert statuses == [503, 200, 200, 404]
