"""Both worked examples of the guide, played once each; what they left behind is what the tests look at.

A record holds the world's journal, the messages as everybody sees them at the end, and views of the cluster: "start",
"card N" (before the N-th question is answered), "pending" (a workload waits for its GPU) and "end".
"""

from pathlib import Path
from typing import Any

from sandbox.people import Message
from tests.flows.crew import APPROVER, ONLOOKER, OPERATOR, OTHER_APPROVER, Crew
from tests.flows.oracle import changes, only
from tests.flows.recording import Record
from tests.flows.stage import Stage, staged
from tests.flows.world_view import pods, view

SPEED = 100.0
EVERYBODY = (OPERATOR, APPROVER, OTHER_APPROVER, ONLOOKER)


def example_1(folder: Path, *, real: bool = False) -> Record:
    """One GPU worker; `real`: on a real control plane."""
    return _played(folder, "guide-example-1", "gpu-single", real=real)


def example_2(folder: Path, *, real: bool = False) -> Record:
    """Two GPU workers; `real`: on a real control plane."""
    return _played(folder, "guide-example-2", "gpu-multi", real=real)


def _played(folder: Path, scenario: str, cluster: str, *, real: bool) -> Record:
    with staged(folder, scenario, SPEED, real=real) as stage:
        stage.start_bot()
        return Camera(stage, cluster).film()


class Camera:
    """Looks at the cluster at the moments that the guide prints."""

    def __init__(self, stage: Stage, cluster: str) -> None:
        self._stage = stage
        self._cluster = cluster
        self._crew = Crew(stage, cluster)
        self._views: dict[str, Any] = {}

    def film(self) -> Record:
        self._keep("start")
        self._crew.command("start")
        self._crew.play(self._over, before=self._before)
        self._keep("end")
        reports = {word: self._crew.command(word) for word in ("status", "report")}
        return {**record(self._stage, self._crew), "views": self._views, "reports": reports}

    def _keep(self, moment: str) -> None:
        self._views[moment] = view(self._stage.endpoints, self._cluster)

    def _before(self, number: int, _card: Message) -> None:
        self._keep(f"card {number}")

    def _over(self) -> bool:
        """Whether the run has ended; on the way: the first moment when a workload waits while another runs."""
        if "pending" not in self._views and self._evicted():
            waiting = pods(self._stage.endpoints, self._cluster, "default")
            if {pod["STATUS"] for pod in waiting} == {"Pending", "Running"}:  # the evicted one is gone
                self._views["pending"] = {"workloads": waiting}
        return bool(self._crew.ended())

    def _evicted(self) -> bool:
        return bool(only(changes(self._stage.journal()), "evict pods"))


def record(stage: Stage, crew: Crew) -> Record:
    """What a played run leaves behind."""
    return {
        "run": crew.run(),
        "cluster": crew.cluster,
        "ended": crew.ended(),
        "answered": crew.answered,
        "journal": stage.journal(),
        "messages": {name: stage.messages(name) for name in EVERYBODY},
    }
