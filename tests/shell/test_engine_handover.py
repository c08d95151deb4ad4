"""Two replicas as `deploy/` runs them, as real processes on one Valkey: the owner is told to stop in the middle of a run."""

import time
from pathlib import Path

from tests.flows.crew import Crew
from tests.flows.oracle import MARK, changes, twice
from tests.flows.stage import Stage, staged, wait_for

SPEED = 100.0
REPLICAS = ("gpu-migrate-0", "gpu-migrate-1")
HAND_OVER_SECONDS = 10.0


def owners(stage: Stage) -> list[str]:
    """Replicas that left their mark in the cluster, oldest first."""
    holders = [
        str(row["request"]["body"]["spec"]["holderIdentity"])
        for row in stage.journal()
        if row["target"] == MARK and row["status"] < 300 and (row["request"].get("body") or {}).get("spec")
    ]
    return [holder.rpartition(".")[0] for holder in holders]


def ordered(stage: Stage, verb: str) -> bool:
    return any(row["verb"] == verb and row["status"] < 300 for row in stage.journal())


def test_given_two_replicas_when_the_owner_is_stopped_in_the_middle_then_the_other_goes_on_at_once(
    tmp_path: Path,
) -> None:
    with staged(tmp_path, "guide-example-2", SPEED) as stage:
        for replica in REPLICAS:
            stage.start_bot(replica)
        crew = Crew(stage, "gpu-multi")
        crew.command("start")
        crew.play(lambda: ordered(stage, "replaceWorker"))
        owner = owners(stage)[-1]
        other = next(replica for replica in REPLICAS if replica != owner)

        began = time.monotonic()
        assert stage.stop_bot(owner), f"{owner} had to be killed:\n{stage.tail(owner)}"
        stopped = time.monotonic() - began
        wait_for(lambda: owners(stage)[-1] == other, HAND_OVER_SECONDS, f"{other} acts", lambda: stage.tail(other))
        handed = time.monotonic() - began
        crew.play()

        assert stopped < HAND_OVER_SECONDS
        assert handed < HAND_OVER_SECONDS, f"stopped after {stopped:.1f} s, handed over after {handed:.1f} s"
        assert crew.ended() == "done"
        assert twice(changes(stage.journal())) == {}
