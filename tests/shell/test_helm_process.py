"""The helm process: what it gets, that it ends, and that nothing of it stays. A scripted `helm` says odd things."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from bot.adapters.helm import HelmCli
from state.errors import OutcomeUnknown, PermanentError, TransientError
from state.orders import InstallChart
from state.reasons import Code

SECRET = b"users: [{name: u, user: {token: very-secret}}]"


def order(repository: str = "https://charts.example/nvidia", version: str = "26.7.0") -> InstallChart:
    values = {"driver": {"enabled": True}, "secretish": "s3cr3t-value"}
    return InstallChart("gpu-operator", "gpu-operator", "gpu-operator", version, repository, values)


def fake(folder: Path, script: str) -> str:
    path = folder / "helm"
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)
    return str(path)


def environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "SLACK_BOT_TOKEN": "xoxb-secret", "HTTPS_PROXY": "http://proxy.example:3128"}


async def test_given_an_install_when_helm_runs_then_it_gets_files_and_no_secrets_in_sight(tmp_path: Path) -> None:
    report = tmp_path / "report"
    report.mkdir()
    helm = fake(
        tmp_path,
        f"""printf '%s\\n' "$@" > {report}/argv; env > {report}/env; stat -c '%a %n' "$KUBECONFIG" > {report}/mode
cat "$KUBECONFIG" > {report}/kubeconfig
while [ $# -gt 0 ]; do [ "$1" = --values ] && cp "$2" {report}/values; shift; done""",
    )
    await HelmCli(helm, 60, environment=environment()).install(order(), SECRET)
    argv = (report / "argv").read_text().split("\n")
    surroundings = (report / "env").read_text()
    kubeconfig = (report / "mode").read_text().split()

    assert argv[:6] == ["install", "gpu-operator", "gpu-operator", "--namespace", "gpu-operator", "--create-namespace"]
    assert argv[6:10] == ["--repo", "https://charts.example/nvidia", "--version", "v26.7.0"]
    assert not any(flag.startswith("--wait") for flag in argv)
    assert "very-secret" not in "".join(argv) + surroundings
    assert "s3cr3t-value" not in "".join(argv)
    assert "xoxb-secret" not in surroundings
    assert "HTTPS_PROXY=http://proxy.example:3128" in surroundings
    assert json.loads((report / "values").read_text())["driver"] == {"enabled": True}
    assert kubeconfig[0] == "600"
    assert (report / "kubeconfig").read_bytes() == SECRET
    assert not Path(kubeconfig[1]).parent.exists()


@pytest.mark.parametrize(
    ("repository", "chart"),
    [
        ("oci://registry.example/nvidia", "oci://registry.example/nvidia/gpu-operator"),
        ("oci://registry.example/nvidia/gpu-operator/", "oci://registry.example/nvidia/gpu-operator"),
    ],
)
async def test_given_a_registry_when_installed_then_the_chart_is_named_by_its_address(
    tmp_path: Path, repository: str, chart: str
) -> None:
    helm = fake(tmp_path, f'printf "%s\\n" "$@" > {tmp_path}/argv')
    await HelmCli(helm, 60).install(order(repository, "v26.7.0"), SECRET)
    argv = (tmp_path / "argv").read_text().split("\n")

    assert argv[2] == chart
    assert argv[6:8] == ["--version", "v26.7.0"]


async def test_given_a_folder_as_mirror_when_installed_then_its_package_is_taken(tmp_path: Path) -> None:
    package = tmp_path / "gpu-operator-v26.7.0.tgz"
    package.write_bytes(b"")
    helm = fake(tmp_path, f'printf "%s\\n" "$@" > {tmp_path}/argv')
    await HelmCli(helm, 60).install(order(str(tmp_path)), SECRET)

    assert (tmp_path / "argv").read_text().split("\n")[2] == str(package)


async def test_given_a_folder_without_the_chart_when_installed_then_helm_is_not_asked(tmp_path: Path) -> None:
    helm = fake(tmp_path, f"touch {tmp_path}/called")
    with pytest.raises(PermanentError) as caught:
        await HelmCli(helm, 60).install(order(str(tmp_path)), SECRET)

    assert caught.value.reason.code is Code.HELM_FAILED
    assert not (tmp_path / "called").exists()


async def test_given_helm_hangs_when_its_time_is_over_then_it_is_ended_and_nobody_knows(tmp_path: Path) -> None:
    helm = fake(
        tmp_path, f"echo $$ > {tmp_path}/pid; echo $KUBECONFIG > {tmp_path}/kc; trap '' TERM; sleep 60 & sleep 60"
    )
    with pytest.raises(OutcomeUnknown):
        await HelmCli(helm, 0.7).install(order(), SECRET)

    assert not alive(int((tmp_path / "pid").read_text()))
    assert not Path((tmp_path / "kc").read_text().strip()).exists()


async def test_given_a_cancelled_call_when_helm_runs_then_it_is_asked_to_end(tmp_path: Path) -> None:
    """SIGTERM lets helm mark the release as failed."""
    helm = fake(tmp_path, f"trap 'touch {tmp_path}/asked; exit 1' TERM; touch {tmp_path}/runs; sleep 60 & wait")
    call = asyncio.create_task(HelmCli(helm, 60).install(order(), SECRET))
    async with asyncio.timeout(10):
        while not (tmp_path / "runs").exists():
            await asyncio.sleep(0.02)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert (tmp_path / "asked").exists()


async def test_given_helm_is_killed_when_installing_then_nobody_knows(tmp_path: Path) -> None:
    helm = fake(tmp_path, "kill -9 $$")
    with pytest.raises(OutcomeUnknown):
        await HelmCli(helm, 30).install(order(), SECRET)


async def test_given_endless_output_when_installing_then_the_last_word_counts(tmp_path: Path) -> None:
    helm = fake(
        tmp_path,
        "yes noise | head -c 3000000; yes noise | head -c 3000000 >&2; echo 'Error: path \"x\" not found' >&2; exit 1",
    )
    with pytest.raises(PermanentError) as caught:
        await HelmCli(helm, 60).install(order(), SECRET)

    assert caught.value.reason.text("detail") == 'path "x" not found'


async def test_given_a_warning_and_success_when_installing_then_it_is_success(tmp_path: Path) -> None:
    helm = fake(tmp_path, "echo 'level=WARN msg=deprecated' >&2; exit 0")

    await HelmCli(helm, 30).install(order(), SECRET)


@pytest.mark.parametrize("binary", ["/nowhere/helm", "helm-that-is-not-there", "."])
async def test_given_no_helm_when_called_then_its_path_is_named(binary: str) -> None:
    for call in (HelmCli(binary).version(), HelmCli(binary).install(order(), SECRET)):
        with pytest.raises(PermanentError) as caught:
            await call

        assert caught.value.reason.code is Code.HELM_MISSING
        assert caught.value.reason.text("path") == binary


@pytest.mark.parametrize(
    ("script", "version"),
    [("printf v4.3.1", "4.3.1"), ("echo noise; echo v3.21.4", "3.21.4"), ("printf v4.0.0-rc.1+x", "4.0.0-rc.1+x")],
)
async def test_given_a_helm_when_asked_for_its_version_then_it_is_read(
    tmp_path: Path, script: str, version: str
) -> None:
    assert await HelmCli(fake(tmp_path, script)).version() == version


@pytest.mark.parametrize("script", ["echo nothing", "exit 3", "echo v4.3.1; exit 1", "printf '\\377\\376'"])
async def test_given_no_version_when_asked_then_it_is_said(tmp_path: Path, script: str) -> None:
    with pytest.raises(PermanentError) as caught:
        await HelmCli(fake(tmp_path, script)).version()

    assert caught.value.reason.code is Code.HELM_FAILED


async def test_given_a_name_in_use_when_installing_then_it_is_refused_for_now(tmp_path: Path) -> None:
    helm = fake(tmp_path, "echo 'Error: INSTALLATION FAILED: cannot reuse a name that is still in use' >&2; exit 1")
    with pytest.raises(TransientError):
        await HelmCli(helm, 30).install(order(), SECRET)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_given_a_proxy_of_its_own_when_helm_runs_then_it_wins_over_the_environments(tmp_path: Path) -> None:
    helm = fake(tmp_path, f"env > {tmp_path}/env")
    await HelmCli(helm, 60, proxy="http://ours.example:8080", environment=environment()).install(order(), SECRET)
    surroundings = (tmp_path / "env").read_text()

    assert "HTTPS_PROXY=http://ours.example:8080" in surroundings
    assert "HTTP_PROXY=http://ours.example:8080" in surroundings
