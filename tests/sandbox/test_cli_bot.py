"""The bot's configuration for a world."""

import pytest

from sandbox import bot_process
from sandbox.endpoints import Endpoints
from sandbox.scenario import load


def _world(speed: float) -> Endpoints:
    return Endpoints(
        scenario="guide",
        speed=speed,
        slack_api="http://127.0.0.1:1/api/",
        slack_page="http://127.0.0.1:1/",
        iks="http://127.0.0.1:2/global",
        iam="http://127.0.0.1:3",
        redis="redis://127.0.0.1:4/0",
        control="http://127.0.0.1:5",
        journal="http://127.0.0.1:5/journal",
        faults="http://127.0.0.1:5/faults",
        helm_repository="http://127.0.0.1:6",
    )


def test_given_a_world_when_configured_then_every_cluster_may_be_acted_on_by_its_people() -> None:
    chosen = bot_process.settings(load("guide", 60), _world(60), 8080)

    assert list(chosen["clusters"]) == ["gpu-single", "gpu-multi"]
    assert chosen["defaults"]["approvers"] == ["U0APPROVER1", "U0APPROVER2"]
    assert chosen["defaults"]["operators"] == ["U0OPERATOR1", "U0APPROVER1", "U0APPROVER2"]
    assert (chosen["defaults"]["mode"], chosen["http_port"]) == ("act", 8080)


@pytest.mark.parametrize(
    ("speed", "poll", "replace", "settle"), [(1, 20, 5400, 120), (30, 2 / 3, 180, 4), (1000, 0.25, 150, 2)]
)
def test_given_a_speed_when_configured_then_waits_shrink_to_what_machines_need(
    speed: float, poll: float, replace: float, settle: float
) -> None:
    waits = bot_process.durations(speed)

    assert waits["poll"] == pytest.approx(poll, abs=0.001)
    assert (waits["replace"], waits["settle"]) == (replace, settle)
