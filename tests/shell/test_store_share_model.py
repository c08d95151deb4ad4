"""Replicas come, go, freeze and thaw while runs begin and end: none lies for long, and when all is quiet shares are even."""

import random
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from state.store.share import DEAF_SECONDS, PATIENCE_SECONDS, SETTLE_SECONDS, Backlog, Share

LEASE_SECONDS = 12
BUSY_SECONDS = 90
LONGEST_LOOSE = LEASE_SECONDS + PATIENCE_SECONDS + 2
EVENTS = ("join", "die", "leave", "freeze", "thaw", "begin", "end")


@dataclass
class Bot:
    """`until`: end of its lease; a frozen one keeps its lease and does nothing else."""

    share: Share = field(default_factory=Share)
    until: float = float("inf")
    frozen: bool = False

    @property
    def works(self) -> bool:
        return not self.frozen and self.until == float("inf")


@dataclass
class Town:
    """Time is in whole seconds; in each one every replica looks once, in any order."""

    dice: random.Random
    bots: dict[str, Bot] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    loose_since: dict[str, int] = field(default_factory=dict)
    now: int = 0
    count: int = 0
    moves: int = 0

    def happen(self, what: str) -> None:
        self.count += 1
        some = self.dice.choice(sorted(self.bots))
        match what:
            case "join":
                self.bots[f"{self.count} bot"] = Bot()
            case "die":
                self.bots[some].until = min(self.bots[some].until, self.now + LEASE_SECONDS)
            case "leave":
                del self.bots[some]
            case "freeze" | "thaw":
                self.bots[some].frozen = what == "freeze"
            case "begin":
                self.owners[f"run-{self.count}"] = ""
            case "end" if self.owners:
                del self.owners[self.dice.choice(sorted(self.owners))]
        if not any(bot.works for bot in self.bots.values()):
            self.bots[f"{self.count} spare"] = Bot()

    def second(self) -> None:
        self.now += 1
        self.bots = {name: bot for name, bot in self.bots.items() if bot.until > self.now}
        working = [name for name, bot in self.bots.items() if bot.works]
        for name in self.dice.sample(working, len(working)):
            self.look(name)
        loose = [run for run, owner in self.owners.items() if owner not in self.bots]
        self.loose_since = {run: self.loose_since.get(run, self.now) for run in loose}
        assert all(self.now - since <= LONGEST_LOOSE for since in self.loose_since.values())

    def look(self, name: str) -> None:
        share, backlog = self.bots[name].share, self.backlog(name)
        heir = share.heir(backlog, self.now)
        for run in share.pick(backlog, self.now):
            self.owners[run] = name
        mine = [run for run, owner in self.owners.items() if owner == name]
        if heir and mine:
            self.moves += 1
            share.offered(mine[0], heir, self.now)
            self.owners[mine[0]] = heir if self.bots[heir].works else ""

    def backlog(self, name: str) -> Backlog:
        loads = {other: 0 for other in self.bots if other != name}
        for owner in self.owners.values():
            if owner in loads:
                loads[owner] += 1
        mine = sum(owner == name for owner in self.owners.values())
        loose = tuple(sorted(run for run, owner in self.owners.items() if owner not in self.bots))
        return Backlog(mine, len(self.owners), tuple(loads.items()), (), (), loose)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, BUSY_SECONDS), st.sampled_from(EVENTS)), max_size=25),
    st.integers(1, 40),
    st.integers(0, 2**32),
)
def test_given_any_life_of_replicas_when_it_quiets_down_then_no_run_lay_long_and_shares_are_even(
    events: list[tuple[int, str]], runs: int, seed: int
) -> None:
    dice = random.Random(seed)  # noqa: S311 (a schedule, no secret; drawn by hypothesis it takes a minute)
    town = Town(dice, {"0 bot": Bot()}, {f"run-0-{number}": "" for number in range(runs)})
    for _ in range(BUSY_SECONDS):
        for what in (what for when, what in events if when == town.now):
            town.happen(what)
        town.second()
    for bot in town.bots.values():
        bot.frozen = False
    for _ in range(int(DEAF_SECONDS + SETTLE_SECONDS) + LEASE_SECONDS + len(town.owners) + 30):
        town.second()
    settled = town.moves
    for _ in range(60):
        town.second()

    even = -(-len(town.owners) // len(town.bots))
    shares = [sum(owner == name for owner in town.owners.values()) for name in town.bots]
    assert max(shares) <= even
    assert sum(shares) == len(town.owners)
    assert town.moves == settled
