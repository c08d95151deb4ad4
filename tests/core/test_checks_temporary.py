"""What forbids making or removing a temporary pool."""

from dataclasses import replace

import pytest

from state.planner import plan
from state.reasons import Code
from state.run import StepKind, TemporaryPool
from state.snapshot import Snapshot
from tests.builders import (
    START,
    master,
    one_worker,
    pod,
    pool,
    run,
)
from tests.core.checks import Change, checked, same, updated
from tests.core.half_done import TEMPORARY
from tests.core.worlds import change_node, change_worker, iks, join, leave, with_pods

SUBNETLESS = replace(pool(), zones=(replace(pool().zones[0], subnet=""),))


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (same, []),
        (lambda w: iks(w, master=master()), [Code.MASTER_NOT_THERE]),
        (lambda w: iks(w, pools=()), [Code.WAIT_POOL_WORKERS]),
        (lambda w: iks(w, pools=(SUBNETLESS,)), [Code.WAIT_POOL_WORKERS]),
    ],
    ids=["fit", "control plane old", "model pool gone", "B044 no subnet"],
)
def test_given_the_temporary_pool_is_due_when_looked_then_it_needs_a_model_and_a_subnet(
    change: Change, codes: list[Code]
) -> None:
    world = updated(one_worker())

    assert checked(StepKind.ADD_TEMPORARY_POOL, change(world), plan(run(), world)) == codes


def finished() -> Snapshot:
    """Example 1 at its end: n1 has replaced w1, the pod still runs in the temporary pool."""
    world = join(join(leave(updated(one_worker()), "w1"), "n1"), "t1", "10.240.2.1")
    world = change_worker(world, "t1", pool_id="pool-t", pool_name="temp-gpu-pool")
    return with_pods(
        iks(world, pools=(*world.iks.pools, TEMPORARY)), pod("gpu-burn-7d-x", "10.240.2.1", created_at=START)
    )


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (same, []),
        (lambda w: with_pods(w, pod("other", "10.240.1.1")), [Code.PODS_WOULD_NOT_FIT]),
        (lambda w: change_node(w, "n1", ready=False), [Code.WAIT_NODE_READY, Code.PODS_WOULD_NOT_FIT]),
        (lambda w: leave(w, "n1"), [Code.LAST_GPU_WORKER, Code.PODS_WOULD_NOT_FIT]),
        (lambda w: iks(w, pools=w.iks.pools[:-1]), []),
        (lambda w: change_node(w, "t1", ready=False), []),
    ],
    ids=["fit", "no room", "successor not ready", "no successor", "pool gone already", "temporary one unwell"],
)
def test_given_the_temporary_pool_has_to_go_when_looked_then_its_pods_need_a_place(
    change: Change, codes: list[Code]
) -> None:
    subject = replace(
        plan(run(), updated(one_worker())),
        temporary_pool=TemporaryPool("temp-gpu-pool", "pool-t"),
        healthy_since={"n1": START},
    )
    world = replace(finished(), at=START.replace(hour=12))

    assert checked(StepKind.REMOVE_TEMPORARY_POOL, change(world), subject) == codes
