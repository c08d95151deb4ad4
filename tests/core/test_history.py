"""A journal that went back in time, as a run sees it."""

from dataclasses import replace
from datetime import timedelta

from state.events import Rewound
from state.history import displaced, newer, rewound
from state.reasons import Code, reason
from state.run import Run
from state.snapshot import Snapshot
from tests.builders import START, one_worker, run

SEEN = run(ops=4)


def marked(by: Run) -> Snapshot:
    """A look at a cluster that carries the mark of this run at this operation."""
    snapshot = one_worker()
    mark = {"gpu-migrate/run": by.id, "gpu-migrate/op": f"{by.id}:op{by.ops}"}
    return replace(snapshot, kubernetes=replace(snapshot.kubernetes, marker=mark))


def told(after: Run) -> list[Code]:
    return [note.reason.code for note in after.notes]


def test_given_a_mark_of_a_later_operation_when_looking_then_the_run_stops_says_so_and_counts_on() -> None:
    after = newer(SEEN, marked(replace(SEEN, ops=11)))

    assert after.ops == 11
    assert after.pause is not None
    assert told(after) == [Code.STORE_REWOUND]


def test_given_a_mark_of_the_same_operation_when_looking_then_nothing_changes() -> None:
    assert newer(SEEN, marked(SEEN)) == SEEN


def test_given_a_run_that_stopped_for_it_when_the_mark_says_so_too_then_people_are_told_once() -> None:
    stopped = rewound(SEEN, Rewound(START, 28, 16))
    after = newer(stopped, marked(replace(SEEN, ops=11)))

    assert after.ops == 11
    assert told(after) == [Code.STORE_REWOUND]
    assert after.pause == stopped.pause


def strange(seconds_ago: int) -> Snapshot:
    """A look at a cluster with another run's mark, good for a minute."""
    snapshot = one_worker()
    renewed = (snapshot.at - timedelta(seconds=seconds_ago)).isoformat()
    mark = {"run": "r-2", "instance": "there", "op": "r-2:op9", "renewed": renewed, "seconds": "60"}
    marker = {f"gpu-migrate/{name}": value for name, value in mark.items()}
    return replace(snapshot, kubernetes=replace(snapshot.kubernetes, marker=marker))


def test_given_a_fresh_mark_of_another_run_when_at_work_then_the_run_stops_and_says_so_once() -> None:
    after = displaced(displaced(SEEN, strange(10)), strange(5))

    assert after.pause is not None
    assert after.pause.reason == reason(Code.OTHER_RUN_IN_CLUSTER, run="r-2", instance="there")
    assert told(after) == [Code.OTHER_RUN_IN_CLUSTER]


def test_given_a_mark_of_another_run_that_nobody_renews_when_at_work_then_the_run_goes_on() -> None:
    assert displaced(SEEN, strange(90)) == SEEN


def test_given_a_stopped_run_when_resumed_beside_the_other_one_then_it_stops_again() -> None:
    resumed = replace(displaced(SEEN, strange(10)), pause=None)
    later = replace(strange(10), at=START + timedelta(seconds=20))
    after = displaced(resumed, later)

    assert after.pause is not None
    assert told(after) == [Code.OTHER_RUN_IN_CLUSTER] * 2
