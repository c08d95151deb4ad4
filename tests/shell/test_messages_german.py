"""German messages are German: what we say ourselves is in words, only names and words of upstream stay as they are."""

import re
from dataclasses import replace

import pytest

from bot.messages import Words, terminal
from bot.messages.speech import speech
from state.readiness import judge
from state.reasons import Code, Reason, reason
from state.snapshot import Taint
from tests.core.gpu_node import MACHINE, NAME, Change, both, healthy, labels, on_node, unready, waiting, without
from tests.shell.message_runs import run

GERMAN = speech("de")
OURS = re.compile(r"\b(no|not|of|pod is|restarts?|waiting|worker pod|ready|on target|mark of|control plane \d)\b")
"""English words that we have made ourselves where only facts belong."""

NODES: dict[str, tuple[Change, str]] = {
    "crashing validator": (
        unready("nvidia-operator-validator", init=(waiting("toolkit-validation", "CrashLoopBackOff", 9),)),
        "Container `Init:toolkit-validation`, `CrashLoopBackOff`, 9 Neustarts",
    ),
    "image": (
        unready("nvidia-driver-daemonset", main=(waiting("nvidia-driver-ctr", "ImagePullBackOff", message="x: 404"),)),
        "Container `nvidia-driver-ctr`, `ImagePullBackOff`: `x: 404`",
    ),
    "dead GPU": (on_node(allocatable={"nvidia.com/gpu": 0}), "eine GPU ist defekt: 0 von 1 `nvidia.com/gpu`"),
    "no NFD": (
        on_node(labels={}, taints=(Taint("nvidia.com/gpu", "true", "NoSchedule"),)),
        "kein Pod des NFD-Workers auf ihm, seine GPU bleibt unentdeckt, Taint `nvidia.com/gpu=true:NoSchedule`",
    ),
    "label": (labels({"nvidia.com/gpu.deploy.driver": "false"}), "Label `nvidia.com/gpu.deploy.driver=false`"),
    "no plugin": (
        both(labels({"nvidia.com/gpu.deploy.device-plugin": ""}), without("nvidia-device-plugin-daemonset")),
        "das Device Plugin startet, Label `nvidia.com/gpu.deploy.device-plugin=`",
    ),
}


def bare(text: str) -> str:
    """Without what stands in code spans: names and words from outside."""
    return re.sub(r"`[^`]*`", "", text)


@pytest.mark.parametrize(("change", "wanted"), NODES.values(), ids=NODES.keys())
def test_given_a_node_whose_gpus_do_not_come_when_told_then_in_german(change: Change, wanted: str) -> None:
    verdict = judge(change(healthy()), MACHINE, {"nvidia.com/gpu": 1})
    text = GERMAN.sentence(verdict.reason)

    assert wanted in text
    assert NAME in text
    assert not OURS.search(bare(text))
    assert not any(OURS.search(str(fact)) for fact in verdict.evidence.values()), "no sentence hides in a fact"


@pytest.mark.parametrize(
    ("why", "wanted"),
    [
        (
            reason(Code.HALF_DONE, master="1.36.0_1506", workers=("w1",), mark="r-0"),
            "begonnen. Control Plane: `1.36.0_1506`. Worker auf der Zielversion: `w1`. Marke von Lauf `r-0`. Der Plan",
        ),
        (reason(Code.HALF_DONE, pools=("temp-gpu-pool",)), "begonnen. Temporäre Pools: `temp-gpu-pool`. Der Plan"),
        (reason(Code.WAIT_RELEASE, release="gpu-operator"), "Warten auf das Helm-Release `gpu-operator`."),
    ],
    ids=["half done", "only a pool", "no release yet"],
)
def test_given_what_was_found_when_told_then_in_german(why: Reason, wanted: str) -> None:
    text = GERMAN.sentence(why)

    assert wanted in text
    assert not OURS.search(bare(text))


def test_given_a_lost_gpu_when_told_then_the_cause_has_the_numbers() -> None:
    verdict = judge(on_node(allocatable={"nvidia.com/gpu": 0})(healthy()), MACHINE, {"nvidia.com/gpu": 1})
    lost = reason(Code.GPUS_LOST, verdict.reason, worker="n1", node=NAME)
    first, cause = GERMAN.told(lost)

    assert "hat seine GPUs verloren" in first
    assert "0 von 1" in cause


def test_given_an_abort_under_the_brake_when_shown_in_german_then_what_waits_is_said() -> None:
    brake = reason(Code.BRAKE, by="U0OPERATOR1", detail="stop-all")
    text = terminal(Words("de").status(replace(run(), brake=brake)))

    assert "Alle Läufe dieser Installation sind angehalten" in text
