"""Our ports in memory: small real classes that remember what they were given."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bot.messages import Words
from handlers.edge import Edge, Heard
from handlers.ports import Clusters, Message, StartRequest
from state.errors import TransientError
from state.events import HumanEvent, Person, TurnedAway
from state.journal import Brake
from state.policy import Policy
from state.reasons import Code, Reason, reason
from state.run import Run

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
TEAM = "T0TEAM"
POLICY = Policy(approvers=("U0APPROVER1",), operators=("U0OPERATOR1",), observe=False)


class MemoryRuns:
    """Runs by id; `away` makes every read fail."""

    def __init__(self, *runs: Run) -> None:
        self.known = {run.id: run for run in runs}
        self.away = False

    async def active(self, cluster: str) -> Run | None:
        self._reach()
        return next((run for run in self.known.values() if run.cluster == cluster and not run.phase.ended), None)

    async def get(self, run_id: str) -> Run | None:
        self._reach()
        return self.known.get(run_id)

    async def recent(self, limit: int) -> tuple[Run, ...]:
        self._reach()
        return tuple(reversed(self.known.values()))[:limit]

    def _reach(self) -> None:
        if self.away:
            raise TransientError(reason(Code.STORE_UNREACHABLE, detail="connection refused"))


class MemorySubmit:
    """The inbox: each event id once a run. `outcome` is said instead of RECORDED when set."""

    def __init__(self, runs: MemoryRuns) -> None:
        self.runs = runs
        self.events: dict[tuple[str, str], HumanEvent] = {}
        self.starts: dict[str, StartRequest] = {}
        self.outcome: Reason | None = None

    async def start(self, request: StartRequest) -> Reason:
        self.starts.setdefault(request.id, request)
        return self.outcome or reason(Code.STARTED_LOOKING, cluster=request.cluster)

    async def submit(self, run_id: str, event: HumanEvent) -> Reason:
        if self.outcome:
            return self.outcome
        if run_id not in self.runs.known:
            return reason(Code.NO_SUCH_RUN, run=run_id)
        self.events.setdefault((run_id, event.id), event)
        return reason(Code.RECORDED)


class MemoryDesk:
    def __init__(self) -> None:
        self.asked: list[tuple[str, Person]] = []

    def plan(self, cluster: str, by: Person) -> None:
        self.asked.append((cluster, by))


class MemoryWhispers:
    def __init__(self) -> None:
        self.said: list[tuple[Person, Message]] = []

    def __call__(self, to: Person, message: Message) -> None:
        self.said.append((to, message))


class MemoryBrake:
    """What was done to the brake, in order."""

    def __init__(self) -> None:
        self.done: list[tuple[str, str]] = []
        self.now: Brake | None = None

    async def set_brake(self, by: str, reason: str) -> None:
        self.done.append((reason, by))
        self.now = Brake(by, reason, NOON)

    async def lift_brake(self, by: str = "") -> None:
        self.done.append(("lift", by))
        self.now = None

    async def get_brake(self) -> Brake | None:
        return self.now


class Desktop:
    """An edge over memory, with everything that went through it."""

    def __init__(self, *runs: Run, team: str = TEAM, policies: Mapping[str, Policy] | None = None) -> None:
        self.runs = MemoryRuns(*runs)
        self.submit = MemorySubmit(self.runs)
        self.desk = MemoryDesk()
        self.whispers = MemoryWhispers()
        self.heard: list[Heard] = []
        known = {"gpu-multi": POLICY, "gpu-single": replace(POLICY, observe=True)} if policies is None else policies
        self.edge = Edge(
            submit=self.submit,
            runs=self.runs,
            desk=self.desk,
            words=Words(),
            clusters=Clusters(known, team),
            whisper=self.whispers,
            now=lambda: NOON,
            heard=self.heard.append,
        )

    @property
    def events(self) -> list[HumanEvent]:
        return [event for event in self.submit.events.values() if not isinstance(event, TurnedAway)]

    @property
    def turned_away(self) -> list[TurnedAway]:
        return [event for event in self.submit.events.values() if isinstance(event, TurnedAway)]


def typed(text: str, user: str = "U0OPERATOR1", **changes: Any) -> dict[str, Any]:
    body = {
        "command": "/gpu-migrate",
        "text": text,
        "user_id": user,
        "user_name": "somebody",
        "team_id": TEAM,
        "channel_id": "C0MIGRATION",
        "trigger_id": "111.222.abc",
        "response_url": "https://hooks.slack.example/commands/1",
        "is_enterprise_install": "false",
    }
    return {key: value for key, value in (body | changes).items() if value is not None}


def pressed(
    value: str = "r-1:1#1", user: str = "U0APPROVER1", action: str = "gm:approve", **changes: Any
) -> dict[str, Any]:
    body = {
        "type": "block_actions",
        "team": {"id": TEAM, "domain": "example"},
        "user": {"id": user, "username": "somebody", "team_id": TEAM},
        "container": {"type": "message", "message_ts": "1764590400.000100", "channel_id": "C0MIGRATION"},
        "channel": {"id": "C0MIGRATION", "name": "migration"},
        "trigger_id": "333.444.def",
        "response_url": "https://hooks.slack.example/actions/1",
        "actions": [
            {
                "type": "button",
                "action_id": action,
                "block_id": "gm:r-1:1#1",
                "value": value,
                "action_ts": "1764590456.000000",
            }
        ],
    }
    return {key: changed for key, changed in (body | changes).items() if changed is not None}
