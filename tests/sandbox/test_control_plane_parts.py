"""The small parts around a real control plane: where its programs are, whose a token is, how its programs end."""

import sys
import time
from pathlib import Path

import aiohttp
import pytest
from typer.testing import CliRunner

from sandbox import processes
from sandbox.cli import app
from sandbox.control_plane.binaries import MANAGER, SCHEDULER, NoBinariesError, find
from sandbox.control_plane.running import parts_beside
from sandbox.control_plane.token_reviews import TokenReviews
from sandbox.controllers.run import ALL, ON_REAL_CONTROL_PLANE
from sandbox.serving import serve
from sandbox.tokens import Tokens

SLEEPER = (sys.executable, "-c", "import time; time.sleep(60)")


def programs(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).touch()
    return folder


def test_given_assets_when_looked_for_then_they_win_over_what_was_built(tmp_path: Path) -> None:
    given = programs(tmp_path / "given", "etcd", "kube-apiserver")
    programs(tmp_path / "gpu-migrate" / "control-plane" / "v1.36.2", "etcd", "kube-apiserver")

    assert find({"KUBEBUILDER_ASSETS": str(given), "XDG_CACHE_HOME": str(tmp_path)}) == given


def test_given_several_releases_when_looked_for_then_the_newest_complete_one_is_taken(tmp_path: Path) -> None:
    base = tmp_path / "gpu-migrate" / "control-plane"
    programs(base / "v1.36.9", "etcd", "kube-apiserver")
    newest = programs(base / "v1.36.10", "etcd", "kube-apiserver")
    programs(base / "v1.37.0", "etcd")

    assert find({"XDG_CACHE_HOME": str(tmp_path)}) == newest


def test_given_a_folder_without_a_server_when_looked_for_then_what_lacks_is_named(tmp_path: Path) -> None:
    given = programs(tmp_path / "given", "etcd")

    with pytest.raises(NoBinariesError, match="lacks kube-apiserver"):
        find({"KUBEBUILDER_ASSETS": str(given)})


def test_given_no_programs_when_a_real_control_plane_is_wanted_then_a_sentence_says_how(tmp_path: Path) -> None:
    words = ["up", "--control-plane", "--dir", str(tmp_path / "world")]
    nothing = {"KUBEBUILDER_ASSETS": "", "XDG_CACHE_HOME": str(tmp_path), "COLUMNS": "200"}
    result = CliRunner(env=nothing).invoke(app, words)

    assert result.exit_code == 1
    assert "make control-plane" in result.output
    assert "Traceback" not in result.output


def test_given_all_programs_when_a_cluster_runs_then_only_what_is_never_real_is_played(tmp_path: Path) -> None:
    assert parts_beside(programs(tmp_path / "all", MANAGER, SCHEDULER)) == ON_REAL_CONTROL_PLANE


def test_given_a_server_alone_when_a_cluster_runs_then_the_rest_is_played(tmp_path: Path) -> None:
    assert parts_beside(tmp_path) == ALL
    assert parts_beside(programs(tmp_path / "no-manager", SCHEDULER)) == ALL - {"scheduler"}


async def test_given_a_token_when_it_has_ended_then_the_webhook_no_longer_knows_it() -> None:
    tokens = Tokens()
    good, old = tokens.issue("IAM#somebody", ("ibm-admin",), 60.0), tokens.issue("IAM#somebody", (), -1.0)
    served = await serve(TokenReviews(tokens).app())
    try:
        async with aiohttp.ClientSession() as http:

            async def status(token: str) -> dict[str, object]:
                review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
                async with http.post(served.url + "/?timeout=30s", json=review) as answer:
                    found: dict[str, object] = (await answer.json())["status"]
                    return found

            user = (await status(good))["user"]
            ended = (await status(old))["authenticated"]
            async with http.post(served.url, data=b"{odd") as answer:
                odd = answer.status
    finally:
        await served.aclose()

    assert user == {"username": "IAM#somebody", "groups": ["ibm-admin", "system:authenticated"]}
    assert ended is False
    assert odd == 400


def test_given_programs_of_a_killed_world_when_ended_then_all_below_are_gone(tmp_path: Path) -> None:
    started = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        started.append(processes.spawn(SLEEPER, tmp_path / name / "log"))
        processes.save(started[-1], tmp_path / name / "program.pid")
    begun = time.monotonic()
    processes.end_below(tmp_path)

    assert [process.alive() for process in started] == [False, False]
    assert time.monotonic() - begun < 5.0
    processes.end_below(tmp_path)
    processes.end_below(tmp_path / "nothing")
