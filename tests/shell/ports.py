"""The outside as the loop's ports see it: one cluster of tests/core/model.py behind IKS, Kubernetes and helm, and a chat.

Time is the model's: each look at IKS is half a minute later. The journal of the model is the oracle: a call stands in it
once it is accepted, whether its answer arrives or not.
"""

# ruff: noqa: ARG002 (signatures are those of bot/ports.py)

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.ports import ClusterRef, Place
from handlers.ports import Message
from state import marks
from state.braking import Limit
from state.errors import OutcomeUnknown, PermanentError
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
    natural_key,
)
from state.policy import Durations, Policy
from state.reasons import Code, Reason, reason
from state.snapshot import IksView, KubernetesView, Snapshot
from tests.core.model import Model

LATE_LOOKS = 2


class Mood(StrEnum):
    """How the cloud answers calls that change something."""

    ANSWERS = "answers"
    LOSES = "loses"  # accepts, and the answer is lost
    LATE = "late"  # the same, and nothing shows for a minute


QUICK = Durations(poll=timedelta(milliseconds=10), idle=timedelta(milliseconds=10), stable=timedelta(seconds=10))
POLICY = Policy(observe=False, approvers=("U0APPROVER1",), operators=("U0OPERATOR1",), durations=QUICK)


class World:
    """One cluster, and how bots are configured for it."""

    def __init__(self, snapshot: Snapshot, mood: Mood = Mood.ANSWERS, policy: Policy = POLICY) -> None:
        self.model = Model(snapshot)
        self.mood = mood
        self.policy = policy
        self.limit = Limit()
        self.refused: tuple[type, ...] = ()
        self.mark: dict[str, str] = {}
        self.marked: dict[str, dict[str, str]] = {}
        self.looks = 0
        self._hidden: list[tuple[int, Order]] = []

    def now(self) -> datetime:
        return self.model.snapshot.at

    @property
    def journal(self) -> list[str]:
        return self.model.journal

    def accept(self, order: Order) -> str:
        """Accept a call; its answer, or OutcomeUnknown. What has gone is refused, and what `refused` says."""
        if isinstance(order, self.refused):
            raise PermanentError(reason(Code.IKS_REFUSED, status=403))
        if isinstance(order, EvictPod) and all(p.uid != order.uid for p in self.model.snapshot.kubernetes.pods):
            return ""
        if isinstance(order, LabelNode | CordonNode | UncordonNode) and not self._has_node(order.uid):
            raise PermanentError(reason(Code.API_REFUSED, status=409, message="uid"))
        if self.mood is Mood.ANSWERS or isinstance(order, LabelNode | CordonNode | UncordonNode | EvictPod):
            return self.model.order(order)
        if self.mood is Mood.LATE:
            self.model.journal.append(natural_key(order))
            self._hidden.append((self.looks + LATE_LOOKS, order))
        else:
            self.model.order(order)
        raise OutcomeUnknown(reason(Code.WAIT_SETTLE, order=type(order).__name__))

    def look(self) -> None:
        """Half a minute passes."""
        self.looks += 1
        for due, order in tuple(self._hidden):
            if due <= self.looks:
                self._hidden.remove((due, order))
                self.model.order(order)
                self.model.journal.pop()  # it stands there since it was accepted
        self.model.tick()

    def _has_node(self, uid: str) -> bool:
        return any(node.uid == uid for node in self.model.snapshot.kubernetes.nodes)


class WorldClock:
    def __init__(self, world: World) -> None:
        self._world = world

    def now(self) -> datetime:
        return self._world.now()


class WorldIks:
    def __init__(self, world: World) -> None:
        self._world = world

    async def resolve(self, name_or_id: str) -> ClusterRef:
        return ClusterRef(self._world.model.snapshot.iks.cluster_id, name_or_id)

    async def look(self, cluster_id: str) -> IksView:
        self._world.look()
        return self._world.model.snapshot.iks

    async def update_master(self, order: UpdateMaster) -> None:
        self._world.accept(order)

    async def replace_worker(self, order: ReplaceWorker) -> None:
        self._world.accept(order)

    async def create_pool(self, order: CreatePool) -> str:
        return self._world.accept(order)

    async def remove_pool(self, order: RemovePool) -> None:
        self._world.accept(order)


class WorldKubernetes:
    """The API server; its watch always has news, so that time passes as fast as looks do."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def look(self, *, fresh: bool = False) -> KubernetesView:
        return replace(self._world.model.snapshot.kubernetes, marker=dict(self._world.mark))

    async def label(self, order: LabelNode) -> None:
        self._world.accept(order)

    async def cordon(self, order: CordonNode) -> None:
        self._world.accept(order)

    async def uncordon(self, order: UncordonNode) -> None:
        self._world.accept(order)

    async def evict(self, order: EvictPod) -> None:
        self._world.accept(order)

    async def dry_run_evict(self, order: EvictPod) -> Reason | None:
        return None

    async def claim(self, facts: Mapping[str, str], holder: str) -> Mapping[str, str]:
        world = self._world
        if marks.is_strange(world.mark, facts["run"]) and marks.is_fresh(world.mark, world.now()):
            return world.mark
        world.mark = {f"{marks.PREFIX}{name}": value for name, value in facts.items()}
        return world.mark

    async def claim_worker(self, worker_id: str, facts: Mapping[str, str]) -> Mapping[str, str]:
        world = self._world
        mark = world.marked.get(worker_id, {})
        if not (marks.is_strange(mark, facts["run"]) and marks.is_fresh(mark, world.now())):
            mark = world.marked[worker_id] = {f"{marks.PREFIX}{name}": value for name, value in facts.items()}
        return mark

    async def unclaim(self, run_id: str) -> None:
        world = self._world
        world.marked = {worker: mark for worker, mark in world.marked.items() if mark.get(marks.RUN) != run_id}
        if world.mark.get(marks.RUN) == run_id:
            world.mark = {}

    async def watch(self, changed: Callable[[], None]) -> None:
        while True:
            changed()
            await asyncio.sleep(0.003)

    def renew_access(self) -> None:
        """Nothing is kept."""

    async def aclose(self) -> None:
        """Nothing is open."""


class WorldHelm:
    def __init__(self, world: World) -> None:
        self._world = world

    async def install(self, order: InstallChart, kubeconfig: bytes) -> None:
        self._world.accept(order)

    async def version(self) -> str:
        return "v4.0.0"


class MemoryChat:
    """Slack: messages by place. `posts`: keys of all posts in order."""

    def __init__(self) -> None:
        self.posts: list[str] = []
        self.texts: dict[str, str] = {}
        self.whispers: list[tuple[str, str]] = []
        self._places: dict[str, Place] = {}

    async def post(self, channel: str, message: Message, *, key: str, thread: str = "") -> Place:
        self.posts.append(key)
        place = Place(channel, f"{len(self.posts)}.000", thread)
        self._places[key] = place
        self._keep(key, message)
        return place

    async def update(self, place: Place, message: Message, *, key: str) -> None:
        self._keep(key, message)

    async def whisper(self, channel: str, user: str, message: Message) -> None:
        self.whispers.append((user, message.text))

    async def find(self, channel: str, key: str, *, thread: str = "", since: datetime | None = None) -> Place | None:
        return self._places.get(key)

    async def is_member(self, channel: str) -> bool:
        return True

    def _keep(self, key: str, message: Message) -> None:
        self.texts[key] = message.text
