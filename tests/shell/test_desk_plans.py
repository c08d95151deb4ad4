"""Dry runs for one person: answered once, few at a time, nothing stored, every connection closed."""

import asyncio
from dataclasses import replace

from bot import desk as bot_desk
from bot.desk import PlanDesk, Setup
from bot.messages import Words
from state.errors import PermanentError
from state.events import Person
from state.reasons import Code, reason
from state.snapshot import KubernetesView
from tests.builders import policy
from tests.shell.rig import QuietKubernetes, Rig, begun, rig, until

OPERATOR = Person("U0OPERATOR1", "T1", "C9")
SETUP = Setup({"gpu-multi": policy()}, {"gpu-multi": ""})


def plans(world: Rig) -> PlanDesk:
    return PlanDesk(world.around(), SETUP, Words().plan)


async def test_given_a_plan_when_asked_then_one_person_reads_it_and_nothing_is_stored() -> None:
    world = rig()
    desk = plans(world)
    desk.plan("gpu-multi", OPERATOR)
    await until(lambda: world.memory_chat.whispers, "the answer")
    await desk.aclose()

    (user, text) = world.memory_chat.whispers[0]
    assert user == "U0OPERATOR1"
    assert "gpu-multi" in text
    assert (world.store.stored, world.world.journal, world.world.mark) == ({}, [], {})


class CrowdedKubernetes(QuietKubernetes):
    """Counts who looks at the same time."""

    now = most = total = 0

    async def look(self, *, fresh: bool = False) -> KubernetesView:
        self.now, self.total = self.now + 1, self.total + 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        return await super().look(fresh=fresh)


async def test_given_a_crowd_that_asks_for_plans_when_answered_then_each_reads_one_and_few_are_made_at_once() -> None:
    world = rig()
    world.kubernetes = crowded = CrowdedKubernetes(world.world)
    desk = plans(world)
    for number in range(60):
        desk.plan("gpu-multi", replace(OPERATOR, user=f"U{number % 20}"))
    await until(lambda: len(world.memory_chat.whispers) == 20, "the answers")
    await desk.aclose()

    assert len({user for user, _ in world.memory_chat.whispers}) == crowded.total == 20
    assert crowded.most == bot_desk.PLANS


class ClosingKubernetes(QuietKubernetes):
    """Fails, or hangs; remembers that it was closed."""

    closed = 0
    trouble: Exception | None = None

    async def look(self, *, fresh: bool = False) -> KubernetesView:
        if self.trouble is not None:
            raise self.trouble
        return await super().look(fresh=fresh)

    async def aclose(self) -> None:
        self.closed += 1


async def test_given_a_cluster_out_of_reach_when_a_plan_is_asked_then_the_person_reads_why() -> None:
    world = rig()
    world.kubernetes = kubernetes = ClosingKubernetes(world.world)
    kubernetes.trouble = PermanentError(reason(Code.API_LOGIN, status=401))
    desk = plans(world)
    desk.plan("gpu-multi", OPERATOR)
    await until(lambda: world.memory_chat.whispers, "the answer")
    await desk.aclose()

    assert world.memory_chat.whispers[0][1] == Words().answer(reason(Code.API_LOGIN, status=401)).text
    assert kubernetes.closed == 1


async def test_given_plans_under_way_when_closed_then_they_end_and_their_connections_too() -> None:
    world = rig()
    world.kubernetes = kubernetes = ClosingKubernetes(world.world)
    world.store.stored["r-1"] = world.put(begun())
    desk = plans(world)
    desk.plan("gpu-multi", OPERATOR)
    await asyncio.sleep(0)
    async with asyncio.timeout(2):
        await desk.aclose()

    assert kubernetes.closed <= 1
