"""Asking the eviction API beforehand is bounded in number, width and time, and fails no look."""

import asyncio
from dataclasses import dataclass, field, replace

from bot.forecast import AT_ONCE, PODS, foresee
from state.errors import PermanentError, TransientError
from state.orders import EvictPod
from state.reasons import Code, Reason, reason
from state.snapshot import Forecast, Snapshot
from tests.builders import pod, two_workers
from tests.shell.ports import World, WorldKubernetes


@dataclass
class Slow:
    """How a server answers dry runs: names in `hangs` never, those in `refused` with an error."""

    hangs: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    asked: list[str] = field(default_factory=list)
    now: int = 0
    most: int = 0


class SlowKubernetes(WorldKubernetes):
    def __init__(self, world: World, slow: Slow) -> None:
        super().__init__(world)
        self._slow = slow

    async def dry_run_evict(self, order: EvictPod) -> Reason | None:
        slow = self._slow
        slow.asked.append(order.pod)
        slow.now += 1
        slow.most = max(slow.most, slow.now)
        try:
            await asyncio.sleep(0)
            if order.pod in slow.hangs:
                await asyncio.Event().wait()
            if order.pod in slow.refused:
                raise PermanentError(reason(Code.API_REFUSED, status=403, message="no"))
            if order.pod.startswith("busy"):
                raise TransientError(reason(Code.API_UNREACHABLE, detail="503"))
        finally:
            slow.now -= 1
        return None


def crowd(*names: str) -> Snapshot:
    snapshot = two_workers()
    pods = tuple(pod(name, "10.240.0.64") for name in names)
    return replace(snapshot, kubernetes=replace(snapshot.kubernetes, pods=pods))


async def test_given_many_pods_when_foreseen_then_number_and_width_are_bounded() -> None:
    slow, snapshot = Slow(), crowd(*(f"p{number:03}" for number in range(300)))

    seen = await foresee(SlowKubernetes(World(snapshot), slow), snapshot, "1.36")

    assert len(seen.forecast) == len(slow.asked) == PODS
    assert slow.most == AT_ONCE


async def test_given_refusals_when_foreseen_then_the_others_still_count() -> None:
    slow, snapshot = Slow(refused=("no",)), crowd("no", "busy", "yes")

    seen = await foresee(SlowKubernetes(World(snapshot), slow), snapshot, "1.36")

    assert seen.forecast == (Forecast("uid-yes"),)


async def test_given_a_server_that_never_answers_when_foreseen_then_it_ends_with_what_is_known() -> None:
    slow, snapshot = Slow(hangs=("never",)), crowd("never", "yes")

    async with asyncio.timeout(8):
        seen = await foresee(SlowKubernetes(World(snapshot), slow), snapshot, "1.36")

    assert seen.forecast == (Forecast("uid-yes"),)
    assert slow.now == 0
