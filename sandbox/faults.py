"""Switches that make a pretend server misbehave, the same for IKS, IAM, Kubernetes, Slack and the Helm repository.

A rule names a system and a pattern; the next `times` matching requests get the fault instead of, or after, the real
answer. `when: after` lets the effect happen first: the caller sees a failure of a call that was accepted.
"""

import asyncio
import itertools
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

_ids = itertools.count(1)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class Rule:
    """One fault.

    Attributes:
        system: iks, iam, kubernetes, slack, helm or "*".
        method: HTTP method or "*".
        path: regular expression searched in path plus "?" plus query string.
        times: how many requests get it; -1 means until removed.
        skip: how many matching requests pass unharmed first.
        when: "before" (the request never reaches the system) or "after" (the effect happens, the answer is lost).
        status: HTTP status to answer; 0 with `drop` cuts the connection.
        body: text of the answer.
        headers: headers of the answer, such as Retry-After.
        delay: seconds to wait before answering (with status 0 and no drop: then the real answer).
        drop: close the connection without an answer.
    """

    system: str = "*"
    method: str = "*"
    path: str = ".*"
    times: int = 1
    skip: int = 0
    when: str = "before"
    status: int = 0
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False
    id: int = field(default_factory=lambda: next(_ids))

    def matches(self, system: str, request: web.Request) -> bool:
        target = f"{request.path}?{request.query_string}"
        return (
            self.times != 0
            and self.system in ("*", system)
            and self.method in ("*", request.method)
            and re.search(self.path, target) is not None
        )


class Faults:
    """The rules in force; used up rules disappear."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []

    def add(self, **fields: Any) -> Rule:
        rule = Rule(**fields)
        self.rules.append(rule)
        return rule

    def remove(self, rule_id: int | None = None) -> None:
        """Remove one rule, or all with None."""
        self.rules = [rule for rule in self.rules if rule_id is not None and rule.id != rule_id]

    def take(self, system: str, request: web.Request) -> Rule | None:
        """The rule that hits this request, counted down; None for a healthy answer."""
        for rule in self.rules:
            if rule.matches(system, request):
                if rule.skip > 0:
                    rule.skip -= 1
                    continue
                if rule.times > 0:
                    rule.times -= 1
                self.rules = [r for r in self.rules if r.times != 0]
                return rule
        return None


def middleware(system: str, faults: Faults) -> Any:
    """Aiohttp middleware that applies the rules of `system`."""

    @web.middleware
    async def misbehave(request: web.Request, handler: Handler) -> web.StreamResponse:
        rule = faults.take(system, request)
        if rule is None:
            return await handler(request)
        answer: web.StreamResponse | None = None
        if rule.when == "after" or (rule.status == 0 and not rule.drop):
            answer = await handler(request)
        if rule.delay:
            await asyncio.sleep(rule.delay)
        if rule.drop:
            if request.transport is not None:
                request.transport.close()
            return web.Response(status=499)
        if rule.status:
            return web.Response(status=rule.status, text=rule.body, headers=rule.headers)
        assert answer is not None
        return answer

    return misbehave
