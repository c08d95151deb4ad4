"""The outside as one call meets it: what was asked is written down, and answered as the test says."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

from state.errors import GpuMigrateError
from state.orders import (
    CordonNode,
    CreatePool,
    EvictPod,
    InstallChart,
    LabelNode,
    Order,
    RemovePool,
    ReplaceWorker,
    UncordonNode,
    UpdateMaster,
)
from tests.builders import CLUSTER, POOL, two_workers
from tests.shell.ports import World, WorldHelm, WorldIks, WorldKubernetes
from tests.shell.rig import Rig, rig

REPLACE = ReplaceWorker(CLUSTER, "w1", POOL)
MASTER = UpdateMaster(CLUSTER, "1.36.0")
CREATE = CreatePool(CLUSTER, "temp-gpu-r-1", POOL, "gx3.16x80.l4", "vpc", "us-south-1", "subnet", 1, "UBUNTU_24_64")
REMOVE = RemovePool(CLUSTER, "pool-temp", "temp-gpu-r-1")
CHART = InstallChart("gpu-operator", "gpu-operator", "gpu-operator", "26.7.0", "https://example.com")
LABEL = LabelNode("10.240.0.64", "uid-w1", "w1", {"a": "b"})
CORDON = CordonNode("10.240.0.64", "uid-w1", "w1")
UNCORDON = UncordonNode("10.240.0.64", "uid-w1", "w1")
EVICT = EvictPod("default", "gpu-burn-7d-46pml", "uid-gpu-burn-7d-46pml", "10.240.0.64")
EVERY = (REPLACE, MASTER, CREATE, REMOVE, CHART, LABEL, CORDON, UNCORDON, EVICT)
NAMES = [type(order).__name__ for order in EVERY]
BEYOND_RECALL = (REPLACE, MASTER, CREATE)


@dataclass
class Recorder:
    """What the outside was asked, and how it answers."""

    calls: list[Order] = field(default_factory=list)
    error: GpuMigrateError | None = None
    hangs: bool = False

    async def answer(self, order: Order) -> None:
        self.calls.append(order)
        if self.hangs:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error


class Iks(WorldIks):
    def __init__(self, world: World, recorder: Recorder) -> None:
        super().__init__(world)
        self._recorder = recorder

    async def update_master(self, order: UpdateMaster) -> None:
        await self._recorder.answer(order)

    async def replace_worker(self, order: ReplaceWorker) -> None:
        await self._recorder.answer(order)

    async def create_pool(self, order: CreatePool) -> str:
        await self._recorder.answer(order)
        return "pool-temp"

    async def remove_pool(self, order: RemovePool) -> None:
        await self._recorder.answer(order)


class Kubernetes(WorldKubernetes):
    def __init__(self, world: World, recorder: Recorder) -> None:
        super().__init__(world)
        self._recorder = recorder

    async def label(self, order: LabelNode) -> None:
        await self._recorder.answer(order)

    async def cordon(self, order: CordonNode) -> None:
        await self._recorder.answer(order)

    async def uncordon(self, order: UncordonNode) -> None:
        await self._recorder.answer(order)

    async def evict(self, order: EvictPod) -> None:
        await self._recorder.answer(order)


class Helm(WorldHelm):
    def __init__(self, world: World, recorder: Recorder) -> None:
        super().__init__(world)
        self._recorder = recorder

    async def install(self, order: InstallChart, kubeconfig: bytes) -> None:  # noqa: ARG002 (the port's signature)
        await self._recorder.answer(order)


def stage(**changes: Any) -> tuple[Rig, Recorder]:
    """A world whose IKS half differs as told."""
    snapshot = two_workers()
    made, recorder = rig(replace(snapshot, iks=replace(snapshot.iks, **changes))), Recorder()
    made.iks, made.kubernetes = Iks(made.world, recorder), Kubernetes(made.world, recorder)
    made.helm = Helm(made.world, recorder)
    return made, recorder
