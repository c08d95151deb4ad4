"""Kill -9 at every named place of every order of the guide's example 1, with real processes in six worlds.

The process kills itself (tests/flows/mortal.py); who dies where says tests/flows/crash_table.py. The oracle is the world's
journal and what people see in Slack, never the bot.
"""

import itertools
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from redis import Redis

from bot.points import Place
from sandbox.people import Message
from state import keys
from state.intents import needs_settling
from tests.flows.crash_table import (
    AWAITED,
    GIVEN,
    NEVER_GIVEN,
    UNSENT,
    WORLDS,
    Cloud,
    Heir,
    World,
    design,
    fate,
    orders,
)
from tests.flows.crew import OPERATOR, Crew
from tests.flows.examples import SPEED, record
from tests.flows.mortal import Fates
from tests.flows.oracle import ORDERS, away_at_once, changes, only, twice
from tests.flows.recording import Record, recorded
from tests.flows.stage import Stage, staged
from tests.shell.recorder import EVERY

pytestmark = pytest.mark.timeout(600)  # eleven deaths in three worlds at once, on a machine that may be busy

HALF = 5  # deaths
LATE = 4  # real seconds until a replacement shows in the lists
ROAD = ["updateMaster", "createWorkerPool", "replaceWorker", "removeWorkerPool"]
INSTALLED = "gpu-operator/sh.helm.release.v1.gpu-operator.v1"


class Ward:
    """Lets bots die where it is written and sees to it that somebody goes on."""

    def __init__(self, stage: Stage, crew: Crew, world: World) -> None:
        self._stage = stage
        self._crew = crew
        self._world = world
        self._fates = Fates(stage.folder / "fates.json")
        self._names = (f"bot-{number}" for number in itertools.count(1))
        self._living: list[str] = []
        self._deaths = 0
        self._held = False

    def begin(self) -> None:
        """One bot, and a second one that waits for its turn where the heir is another."""
        self._fates.write(design()[self._world])
        self._trouble()
        for _ in range(1 if self._world.heir is Heir.SAME else 2):
            self._living.append(next(self._names))
            self._stage.start_bot(self._living[-1], self._fates.path)

    def is_half_over(self) -> bool:
        self._look()
        return len(self.met()) > HALF

    def is_over(self) -> bool:
        self._look()
        return bool(self._crew.ended())

    def _look(self) -> None:
        """Bury who died since the last look, and start who comes after."""
        for name in tuple(self._living):
            if not self._stage.bots[name].alive():
                self._bury(name)
        if self._held and fate(Place.VERIFYING, GIVEN[0]) in {met.fate for met in self._fates.met()}:
            self._held = False
            self._stage.cure("gpu-single")

    def met(self) -> list[str]:
        return sorted(f"{met.fate.place} {met.fate.subject}" for met in self._fates.met())

    def _bury(self, name: str) -> None:
        died = {met.pid for met in self._fates.met()}
        assert self._stage.bots[name].pid in died, f"{name} has ended by itself:\n{self._stage.tail(name)}"
        self._deaths += 1
        heir = name
        if self._world.heir is Heir.OTHER:
            self._living.remove(name)
            heir = next(self._names)
            self._living.append(heir)
            if self._deaths > 1:  # the first time the others wait until it is over by itself
                self._end_lease(name)
        self._stage.launch_bot(heir, self._fates.path)

    def _end_lease(self, name: str) -> None:
        """The twelve seconds of a dead replica are over."""
        with Redis.from_url(self._stage.endpoints.redis) as store:
            store.zrem(keys.REPLICAS, name)

    def _trouble(self) -> None:
        """What is wrong with this world; and an operator that gets ready only once somebody died waiting for it."""
        if fate(Place.VERIFYING, GIVEN[0]) in self._fates.wanted():
            self._held = True
            self._stage.afflict("gpu-single", "not-ready", pod="gpu-operator*")
        if self._world.cloud is not Cloud.ANSWERS:
            status = 502 if self._world.cloud is Cloud.FAILS else 504
            lost = {"method": "POST", "when": "after", "times": -1, "status": status}
            self._stage.fault(system="iks", path="|".join(f"/{order}\\?" for order in ORDERS), **lost)
            self._stage.fault(system="kubernetes", path="/eviction\\?", **lost)
        if self._world.cloud is Cloud.LATE:
            self._stage.knob("visible_lag", LATE)


def _played(folder: Path, world: World) -> Record:
    with staged(folder / world.name, "guide-example-1", SPEED) as stage:
        crew = Crew(stage, "gpu-single")
        ward = Ward(stage, crew, world)
        ward.begin()
        crew.command("start")
        crew.play(ward.is_half_over)  # one patience for each half
        crew.play(ward.is_over)
        return {**record(stage, crew), "met": ward.met()}


def _crashed(heir: Heir, folder: Path) -> Record:
    """All worlds with this heir, side by side: they mostly wait."""
    worlds = [world for world in WORLDS if world.heir is heir]
    with ThreadPoolExecutor(len(worlds)) as crews:
        played = crews.map(partial(_played, folder), worlds)
        return {world.cloud: record for world, record in zip(worlds, played, strict=True)}


@pytest.fixture(scope="module", params=Heir)
def crashed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[World, Record]:
    """What was played, by world; the heir is the same in all of them."""
    heir: Heir = request.param
    played = recorded(tmp_path_factory, f"crashed-{heir}", partial(_crashed, heir))
    return {World(heir, Cloud(cloud)): found for cloud, found in played.items()}


def _keys(messages: list[Message]) -> Counter[str]:
    return Counter(m["metadata"]["event_payload"]["key"] for m in messages if m.get("metadata"))


def test_given_all_deaths_when_the_run_goes_on_then_it_ends_well(crashed: dict[World, Record]) -> None:
    assert len(crashed) == len(Cloud)
    for world, played in crashed.items():
        assert played["ended"] == "done", world
        assert played["met"] == sorted(f"{found.place} {found.subject}" for found in design()[world]), world


def test_given_all_deaths_when_over_then_every_change_was_made_once(crashed: dict[World, Record]) -> None:
    for world, played in crashed.items():
        calls = changes(played["journal"])
        releases = [call.target for call in only(calls, "create secrets") if "helm.release" in call.target]

        assert [call.verb for call in only(calls, *ORDERS)] == ROAD, world
        assert releases == [INSTALLED], world
        assert twice(calls) == {}, world
        assert away_at_once(played["journal"], "gpu-single") == 1, world


def test_given_all_deaths_when_over_then_every_message_stands_there_once(crashed: dict[World, Record]) -> None:
    for world, played in crashed.items():
        messages = played["messages"][OPERATOR]

        assert {key: times for key, times in _keys(messages).items() if times > 1} == {}, world
        assert [m["text"] for m in messages if m["buttons"]] == [], world


def test_given_the_design_when_read_then_every_order_dies_at_every_place_it_has() -> None:
    wanted = {fate(place, order) for place in Place for order in (AWAITED if place is Place.VERIFYING else GIVEN)}

    assert set(GIVEN) == orders() - set(NEVER_GIVEN)
    assert set(AWAITED) == {type(order) for order in EVERY if needs_settling(order)}
    assert {found for fates in design().values() for found in fates} == wanted


def test_given_the_design_when_read_then_every_place_kills_in_every_world() -> None:
    for world, fates in design().items():
        assert {found.place for found in fates} == set(Place), world


def test_given_the_design_when_read_then_no_order_is_left_to_a_human() -> None:
    """What was twice found not to have started is not tried a third time."""
    for world, fates in design().items():
        assert max(Counter(f.subject for f in fates if f.place in UNSENT).values()) == 1, world


def test_given_an_undisturbed_run_when_read_then_the_design_knows_all_its_orders(example_1: Record) -> None:
    verbs = {call.verb for call in changes(example_1["journal"])}

    assert "uncordon" not in verbs
    assert {"label", "cordon", "evict pods", "create secrets", *ORDERS} <= verbs
