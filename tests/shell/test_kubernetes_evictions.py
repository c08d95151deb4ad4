"""Refused evictions are read for what they are: by causes, hints and budgets, never by prose (B023, B073)."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from bot.adapters.kubernetes.evictions import Evictions
from bot.adapters.kubernetes.settings import Limits
from state.errors import GpuMigrateError, OutcomeUnknown, PermanentError, TransientError
from state.orders import EvictPod
from state.reasons import Code
from tests.shell.bad_servers import DATA, BadServer, connected, failure, serving

ORDER = EvictPod("research", "trainer-0", "uid-1", "10.241.16.8")
BUG: dict[str, Any] = json.loads((DATA / "bugs" / "B023.json").read_text())["input"]
GUARD = {**BUG["pdbs"][0], "spec": {"selector": {"matchLabels": {"app": "trainer"}}}}


@dataclass
class Desk:
    """Answers evictions with what a test puts there, and knows one pod and some budgets."""

    evictions: Evictions
    answer: dict[str, Any] = field(default_factory=dict)
    budgets: list[dict[str, Any]] = field(default_factory=list)
    uid: str = "uid-1"
    bodies: list[dict[str, Any]] = field(default_factory=list)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if request.path.endswith("/eviction"):
            self.bodies.append(await request.json())
            return web.json_response(
                self.answer["body"], status=self.answer["http"], headers=self.answer.get("headers", {})
            )
        if request.path.endswith("/poddisruptionbudgets"):
            return web.json_response({"metadata": {}, "items": self.budgets})
        labels = {"app": "trainer"}
        return web.json_response({"metadata": {"name": "trainer-0", "uid": self.uid, "labels": labels}})

    async def refusal(self, answer: dict[str, Any]) -> GpuMigrateError:
        self.answer = answer
        with pytest.raises(GpuMigrateError) as caught:
            await self.evictions.evict(ORDER)
        return caught.value


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    server = BadServer()
    async with serving(server), connected(server) as connection:
        made = Desk(Evictions(connection, Limits()))
        server.other = made.serve
        yield made


@pytest.mark.parametrize(
    ("number", "code", "seconds"),
    [(0, Code.EVICTION_BLOCKED, 10), (1, Code.EVICTION_BLOCKED, 15), (2, Code.EVICTION_THROTTLED, 1)],
)
async def test_given_b023_when_refused_then_budget_and_throttling_are_told_apart(
    desk: Desk, number: int, code: Code, seconds: int
) -> None:
    desk.budgets = [GUARD]
    error = await desk.refusal(BUG["responses"][number])

    assert isinstance(error, TransientError)
    assert (error.reason.code, error.delay.total_seconds()) == (code, seconds)
    if code is Code.EVICTION_BLOCKED:
        assert error.reason.facts["budget"] == "research/trainer-pdb"
        assert error.reason.facts["pods"] == ("research/trainer-0",)


async def test_given_no_cause_and_no_budget_when_refused_then_it_is_throttling(desk: Desk) -> None:
    error = await desk.refusal(BUG["responses"][1])

    assert error.reason.code is Code.EVICTION_THROTTLED


async def test_given_an_eviction_when_sent_then_it_names_the_pod_and_its_uid(desk: Desk) -> None:
    desk.answer = {"http": 201, "body": {"kind": "Status", "status": "Success"}}
    await desk.evictions.evict(ORDER)

    assert desk.bodies[0]["metadata"] == {"name": "trainer-0", "namespace": "research"}
    assert desk.bodies[0]["deleteOptions"] == {"preconditions": {"uid": "uid-1"}}


async def test_given_a_conflict_when_the_name_belongs_to_another_pod_then_it_is_done(desk: Desk) -> None:
    desk.answer, desk.uid = {"http": 409, "body": failure(409, "Conflict")}, "uid-2"

    await desk.evictions.evict(ORDER)


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (400, PermanentError, Code.API_REFUSED),
        (403, PermanentError, Code.API_REFUSED),
        (409, TransientError, Code.API_REFUSED),
        (500, OutcomeUnknown, Code.API_UNREACHABLE),
        (503, OutcomeUnknown, Code.API_UNREACHABLE),
    ],
)
async def test_given_another_refusal_when_read_then_it_is_no_question_of_budgets(
    desk: Desk, status: int, error: type[GpuMigrateError], code: Code
) -> None:
    desk.budgets = [GUARD]
    found = await desk.refusal({"http": status, "body": failure(status, "No")})

    assert type(found) is error
    assert found.reason.code is code


async def test_given_500_and_two_budgets_when_read_then_the_misconfiguration_is_named(desk: Desk) -> None:
    desk.budgets = [GUARD, {**GUARD, "metadata": {"name": "second", "namespace": "research"}}]
    error = await desk.refusal({"http": 500, "body": failure(500, "")})

    assert error.reason.code is Code.EVICTION_MISCONFIGURED
    assert error.reason.facts["budgets"] == ("research/trainer-pdb", "research/second")


async def test_given_a_dry_run_when_the_server_is_in_trouble_then_that_is_no_prediction(desk: Desk) -> None:
    desk.answer = {"http": 503, "body": failure(503, "No")}

    with pytest.raises(TransientError) as caught:
        await desk.evictions.dry_run(ORDER)

    assert caught.value.reason.code is Code.API_UNREACHABLE
