"""A journal that went back in time, as a run sees it."""

from dataclasses import replace

from state.events import Rewound
from state.history import newer, rewound
from state.reasons import Code
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
