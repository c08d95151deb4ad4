"""Schedules of two owners, played on the model, and the same moves on a real server.

A schedule is a list of moves of two replicas that load, decide, apply (also late, also twice), take, release, lose their
lease, forget, and of people who click. Each move that reaches the journal is noted with what it must answer.
"""

import asyncio
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

from state import keys
from state.errors import PermanentError, RunConflict
from state.journal import StoredRun
from state.reasons import Code
from state.run import RunPhase
from state.store import RedisOwnership, RedisRuns, RedisStore, verify_chain
from state.store.memory import Memory
from state.store.ownership import register
from tests.contracts.journal_model import Model, Wanted
from tests.stored import a_click, a_run, an_intent, change

OWNERS = ("bot-a", "bot-b")
MOVES = (
    "load",
    "apply",
    "open",
    "repeat",
    "stale",
    "take",
    "release",
    "die",
    "live",
    "click",
    "drain",
    "end",
    "forget",
)
Move = tuple[str, str]  # who, what
POSSIBLE = tuple((who, what) for who in OWNERS for what in MOVES)


@dataclass
class Mind:
    """What one replica believes: the run as it last saw it, and the last transition it sent."""

    version: int = 0
    fence: int = 0
    intent: str = ""
    sent: Wanted | None = None
    drained: tuple[str, ...] = ()


@dataclass
class Play:
    """One schedule on the model. Every move that reaches the journal is noted with what it must answer."""

    model: Model = field(default_factory=lambda: Model(alive=set(OWNERS)))
    minds: dict[str, Mind] = field(default_factory=lambda: {who: Mind() for who in OWNERS})
    script: list[tuple[str, str, object, object]] = field(default_factory=list)  # who, call, argument, answer
    count: int = 0

    def move(self, who: str, what: str) -> None:
        mind = self.minds[who]
        match what:
            case "load":
                mind.version, mind.intent = self.model.version, self.model.intent
            case "forget":
                mind.intent = ""
            case "repeat":
                if mind.sent is not None:
                    self._send(who, mind.sent)
            case "apply" | "open" | "stale" | "end":
                self._send(who, self._decide(mind, what))
            case _:
                self._other(who, what)

    def _other(self, who: str, what: str) -> None:
        mind, model = self.minds[who], self.model
        match what:
            case "drain":
                mind.drained = tuple(model.inbox[:3])
                self.script.append((who, "inbox", None, tuple(model.inbox)))
            case "take":
                fence = model.take(who) if who in model.alive else None
                if who in model.alive:
                    self.script.append((who, "take", None, fence))
                if fence is not None:
                    self.minds[who] = Mind(model.version, fence, model.intent)
            case "release":
                model.release(who)
                self.script.append((who, "release", None, None))
            case "die" | "live":
                (model.alive.discard if what == "die" else model.alive.add)(who)
                self.script.append((who, what, None, None))
            case "click":
                event = f"c{len(self.script) % 5}"
                self.script.append((who, "submit", event, model.submit(event)))

    def _decide(self, mind: Mind, what: str) -> Wanted:
        self.count += 1
        op = f"op-{self.count}"
        version = mind.version - 1 if what == "stale" and mind.version else mind.version
        intent = f"intent-{self.count}" if what == "open" else ""
        return Wanted(op, version, mind.fence, mind.intent, intent, what == "end", mind.drained)

    def _send(self, who: str, wanted: Wanted) -> None:
        mind = self.minds[who]
        before = self.model.version
        answer = self.model.apply(wanted)
        self.script.append((who, "apply", wanted, answer))
        mind.sent = wanted
        if isinstance(answer, int) and answer == before + 1:
            mind.version, mind.intent, mind.drained = answer, wanted.intent, ()


def play(schedule: list[Move]) -> Play:
    game = Play()
    fences, versions = [0], [0]
    for who, what in schedule:
        game.move(who, what)
        fences.append(game.model.fence)
        versions.append(game.model.version)
    assert fences == sorted(fences)
    assert all(later - earlier in (0, 1) for earlier, later in pairwise(versions))
    assert len(set(game.model.log)) == len(game.model.log) == game.model.version
    return game


async def replay(store: RedisStore, games: list[Play]) -> None:
    await asyncio.gather(*(_replay_one(store, game, f"run-{number}") for number, game in enumerate(games)))


@dataclass
class Actor:
    """One replica of one game on the server: names and memories are its own, the connection is shared."""

    runs: RedisRuns
    ownership: RedisOwnership
    ids: dict[str, str] = field(default_factory=dict)

    async def do(self, run_id: str, call: str, argument: object) -> object:
        match call, argument:
            case "take", _:
                stored = await self.ownership.take(run_id)
                return stored and stored.fence
            case "release", _:
                await self.ownership.release(run_id)
                return None
            case "live", _:
                await self.ownership.renew()
                return None
            case "submit", str(event):
                return await self._submit(run_id, event)
            case "inbox", _:
                entries = await self.runs.inbox(run_id)
                self.ids = {entry.event.id: entry.id for entry in entries}
                return tuple(entry.event.id for entry in entries)
            case "apply", Wanted() as wanted:
                return await self._apply(run_id, wanted)
        raise AssertionError(call)

    async def _submit(self, run_id: str, event: str) -> bool:
        try:
            return await self.runs.submit(run_id, a_click(event))
        except PermanentError as exc:
            return exc.reason.code is not Code.RUN_ENDED

    async def _apply(self, run_id: str, wanted: Wanted) -> str | int:
        base = a_run(run_id, run_id)
        known = replace(base, intent=an_intent(wanted.knew) if wanted.knew else None)
        phase = RunPhase.DONE if wanted.ends else RunPhase.ACTIVE
        run = replace(base, intent=an_intent(wanted.intent) if wanted.intent else None, phase=phase)
        taken = tuple(self.ids.get(event, "0-1") for event in wanted.taken)
        try:
            stored = StoredRun(known, wanted.version, wanted.fence)
            return (await self.runs.apply(change(stored, wanted.op, run, taken=taken))).version
        except RunConflict as exc:
            return exc.reason.text("what")


async def _replay_one(store: RedisStore, game: Play, run_id: str) -> None:
    store.runs.accept_rewound(run_id)  # the example before had one of that name
    await store.runs.create(a_run(run_id, run_id), run_id)
    actors = {}
    for who in OWNERS:
        memory = Memory()
        ownership = await register(store.link, memory, f"{who} of {run_id}")
        actors[who] = Actor(RedisRuns(store.link, memory, who), ownership)

    for who, call, argument, expected in game.script:
        if call == "die":
            await store.link.read(partial(_lose_lease, name=f"{who} of {run_id}"))
        else:
            assert await actors[who].do(run_id, call, argument) == expected, (call, argument)
    await _compare_ends(store, game.model, run_id)


async def _lose_lease(client: Any, name: str) -> None:
    await client.zrem(keys.REPLICAS, name)


async def _compare_ends(store: RedisStore, model: Model, run_id: str) -> None:
    stored = await store.runs.load(run_id)
    assert stored is not None
    found = stored.run.intent.op if stored.run.intent else ""
    rows = await store.runs.log(run_id)
    assert (stored.version, stored.fence, found) == (model.version, model.fence, model.intent)
    assert [row["op"] for row in rows[1:]] == model.log
    assert verify_chain(rows) == ()
    assert [entry.event.id for entry in await store.runs.inbox(run_id)] == model.inbox
    assert (await store.runs.active(run_id) is None) == model.ended
