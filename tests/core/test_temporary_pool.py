"""Making the temporary pool: like the pool it stands in for, done only when its worker is healthy."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from state.opt_out import DRIVER, OPERANDS
from state.orders import CreatePool
from state.reasons import Code
from state.run import StepKind, StepRun
from state.snapshot import Snapshot, Zone
from state.steps import add_temporary_pool as add
from state.steps.step import Broken, Done, Scope, Waiting
from tests.builders import CLUSTER, FLAVOR, POOL, START, master, one_worker, pool
from tests.core.worlds import LATER, at, change_node, change_worker, fixed, iks, join, kubernetes, leave

NAME = "temp-gpu-r-1"
ADD = StepRun("add-temporary-pool", StepKind.ADD_TEMPORARY_POOL, worker_id="w1", pool_id=POOL, node="10.240.0.64")
MODEL = pool(
    size=1,
    zones=(Zone("us-south-2", "0727-b", 0), Zone("us-south-1", "0717-a", 1)),
    labels={"team": "ml", OPERANDS: "false", DRIVER: "false", "ibm-cloud.kubernetes.io/worker-pool-id": "x"},
)


def world() -> Snapshot:
    """Example 1 after the update of the control plane."""
    return iks(one_worker(), master=master("1.36.0_1506"), pools=(MODEL,))


def made(found: Snapshot, **changes: Any) -> Snapshot:
    """The temporary pool exists, without a worker so far."""
    fresh = pool("pool-t", 1, name=NAME, **changes)
    return iks(found, pools=(*found.iks.pools, fresh))


def staffed(found: Snapshot) -> Snapshot:
    """The temporary pool with its healthy worker t1."""
    return change_worker(join(made(found), "t1"), "t1", pool_id="pool-t", pool_name=NAME)


def scope() -> Scope:
    return Scope(fixed(one_worker(), healthy_since={"t1": START}), ADD)


def test_given_a_pool_to_stand_in_for_when_ordered_then_the_zone_is_the_workers_and_no_label_opts_out() -> None:
    assert add.act(world(), scope()) == (
        CreatePool(
            cluster_id=CLUSTER,
            name=NAME,
            like_pool=POOL,
            flavor=FLAVOR,
            vpc="r006-1",
            zone="us-south-1",
            subnet="0717-a",
            size=1,
            operating_system="UBUNTU_24_64",
            labels={"team": "ml"},
        ),
    )


def test_given_a_worker_that_is_gone_when_ordered_then_any_zone_with_a_subnet_will_do() -> None:
    zones = (Zone("us-south-3", "", 0), Zone("us-south-2", "0727-b", 1))
    found = iks(leave(world(), "w1"), pools=(replace(MODEL, zones=zones),))

    (order,) = add.act(found, scope())

    assert isinstance(order, CreatePool)
    assert (order.zone, order.subnet) == ("us-south-2", "0727-b")


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (lambda w: w, []),
        (lambda w: iks(w, master=master()), [Code.MASTER_NOT_THERE]),
        (lambda w: iks(w, master=master("1.36.0_1506", pending=True)), [Code.MASTER_NOT_THERE]),
        (lambda w: iks(w, pools=()), [Code.WAIT_POOL_WORKERS]),
        (lambda w: iks(w, pools=(replace(MODEL, zones=()),)), [Code.WAIT_POOL_WORKERS]),
        (lambda w: iks(w, pools=(replace(MODEL, zones=(Zone("z", "", 1),)),)), [Code.WAIT_POOL_WORKERS]),
    ],
    ids=["fine", "old master", "pending", "no model", "no zone", "no subnet"],
)
def test_given_a_world_when_checked_then_what_forbids_the_pool_is_named(
    change: Callable[[Snapshot], Snapshot], codes: list[Code]
) -> None:
    found = change(world())

    assert [r.code for r in add.check(found, scope())] == codes
    assert bool(add.card(found, scope())) is (Code.WAIT_POOL_WORKERS not in codes)


def test_given_the_pool_is_there_when_acting_then_none_is_made_again() -> None:
    assert add.act(made(world()), scope()) == ()
    assert add.act(made(world(), state="deleted"), scope()) != ()


def test_given_a_pool_without_workers_when_verified_then_it_is_not_done() -> None:
    """B044: IKS says created before there is a worker."""
    found = add.verify(made(world()), scope())

    assert isinstance(found, Waiting)
    assert (found.on.code, found.on.facts["have"], found.on.facts["want"]) == (Code.WAIT_POOL_WORKERS, 0, 1)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda w: change_worker(w, "t1", state="provisioning", health=""), Code.WAIT_WORKER),
        (lambda w: change_node(w, "t1", ready=False), Code.WAIT_NODE_READY),
        (lambda w: kubernetes(w, nodes=w.kubernetes.nodes[:1]), Code.WAIT_NODE_READY),
        (lambda w: change_node(w, "t1", allocatable={}, capacity={}), Code.WAIT_GPUS),
        (lambda w: at(w, START), Code.WAIT_STABLE),
    ],
    ids=["provisioning", "not ready", "no node", "no GPUs", "not for long enough"],
)
def test_given_a_worker_that_is_not_usable_yet_when_verified_then_it_is_waited_for(
    change: Callable[[Snapshot], Snapshot], code: Code
) -> None:
    found = add.verify(change(at(staffed(world()), LATER)), scope())

    assert isinstance(found, Waiting)
    assert found.on.code is code


def test_given_a_healthy_worker_when_verified_then_the_pool_is_done() -> None:
    assert add.verify(at(staffed(world()), LATER), scope()) == Done()


def test_given_a_machine_that_cannot_be_made_when_verified_then_the_pool_is_broken() -> None:
    failed = change_worker(staffed(world()), "t1", state="provision_failed", message="no capacity in us-south-1")

    found = add.verify(failed, scope())

    assert isinstance(found, Broken)
    assert (found.why.code, found.why.text("message")) == (Code.PROVISION_FAILED, "no capacity in us-south-1")


def test_given_a_worker_without_gpus_for_too_long_when_verified_then_the_pool_is_broken() -> None:
    """B095: Ready is not usable, and that phase has its own deadline."""
    silent = change_node(at(staffed(world()), LATER), "t1", allocatable={}, capacity={})

    found = add.verify(silent, Scope(fixed(one_worker()), ADD))

    assert isinstance(found, Broken)
    assert (found.why.code, found.why.cause and found.why.cause.code) == (Code.DEADLINE, Code.WAIT_GPUS)
