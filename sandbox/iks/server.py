"""The REST API of IBM Cloud Kubernetes Service over the pretend cloud: tokens, JSON, routes, journal.

What a call means is in clusters.py, workers.py, pools.py …; nothing of that may enter here.
"""

import json
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from sandbox.faults import Faults, middleware
from sandbox.iks import clusters, estate, kubeconfigs, new_pools, pools, workers
from sandbox.iks.calls import Answer, Call, Route
from sandbox.iks.cloud import Cloud
from sandbox.iks.iam import Accounts
from sandbox.iks.refusals import UNKNOWN_CODE, Refusal, bad_request, bad_token, refuse
from sandbox.journal import Journal

BASE = "/global"
ROUTES = (*clusters.ROUTES, *workers.ROUTES, *pools.ROUTES, *new_pools.ROUTES, *estate.ROUTES, *kubeconfigs.ROUTES)
RATE, RATE_WINDOW = 200, 10.0  # requests in seconds, for one caller; polls are scaled by the speed, so this is too


class IksServer:
    """IKS, to be served below `/global`."""

    def __init__(self, cloud: Cloud, accounts: Accounts, journal: Journal, faults: Faults) -> None:
        self._cloud = cloud
        self._accounts = accounts
        self._journal = journal
        self._faults = faults
        self._recent: deque[float] = deque()

    def app(self) -> web.Application:
        app = web.Application(middlewares=[middleware("iks", self._faults), self._limit])
        for route in ROUTES:
            app.router.add_route(route.method, BASE + route.path, self._handle(route), name=None)
        app.router.add_route("*", "/{anything:.*}", _nothing_here)
        return app

    def _handle(self, route: Route) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            actor, body = "", {}
            try:
                actor = self._actor(request)
                body = await _body(request)
                answer = route.handler(_call(self._cloud, actor, request, body))
            except Refusal as no:
                answer = Answer(no.status, no.body)
            if route.verb and answer.status != web.HTTPUnauthorized.status_code:
                self._remember(route, request, body, (actor, answer))
            return _response(answer)

        return handle

    def _actor(self, request: web.Request) -> str:
        """Subject of the bearer token; raises Refusal 401."""
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        subject = self._accounts.who(token.strip()) if kind.lower() == "bearer" else None
        if subject is None:
            raise bad_token()
        return subject

    def _remember(self, route: Route, request: web.Request, body: dict[str, Any], outcome: tuple[str, Answer]) -> None:
        actor, answer = outcome
        named = (*body.items(), *request.match_info.items(), *request.query.items())
        wanted = ("workerID", "worker", "workerpool", "workerPool", "name", "cluster")
        given = {key: str(value) for key, value in reversed(named) if key in wanted}
        cluster = self._cloud.found(given.get("cluster", ""))
        effect = dict(answer.effect) or {"code": _code(answer)}
        self._journal.add(
            "iks",
            route.verb,
            answer.target or next((given[key] for key in wanted if key in given), ""),
            cluster=answer.cluster or (cluster.name if cluster else given.get("cluster", "")),
            actor=actor,
            status=answer.status,
            request={"method": request.method, "path": request.path, "query": dict(request.query), "body": body},
            effect=effect,
        )

    @web.middleware
    async def _limit(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Answer 429 above the platform's rate."""
        now = time.monotonic()
        while self._recent and self._recent[0] < now - RATE_WINDOW:
            self._recent.popleft()
        if len(self._recent) >= RATE * max(1.0, self._cloud.scenario.speed):
            body = {"statusCode": 429, "message": "You have exceeded the allowable rate of requests. Try again later."}
            return web.json_response(body, status=429, headers={"Retry-After": "1", "X-RateLimit-Limit": str(RATE)})
        self._recent.append(now)
        return await handler(request)


def _call(cloud: Cloud, actor: str, request: web.Request, body: dict[str, Any]) -> Call:
    group = request.headers.get("X-Auth-Resource-Group", "")
    return Call(cloud, actor, group, dict(request.query), body, dict(request.match_info))


async def _body(request: web.Request) -> dict[str, Any]:
    """Read a JSON object; none at all counts as an empty one. Raises Refusal 400."""
    text = await request.text()
    if not text.strip():
        return {}
    try:
        body = json.loads(text)
    except ValueError as wrong:
        raise bad_request("The request body could not be parsed as JSON.") from wrong
    if not isinstance(body, dict):
        raise bad_request("The request body must be a JSON object.")
    return body


def _response(answer: Answer) -> web.Response:
    match answer.body:
        case None:
            return web.Response(status=answer.status)
        case str() as text:
            return web.Response(status=answer.status, text=text, content_type="application/x-yaml")
        case bytes() as raw:
            return web.Response(status=answer.status, body=raw, content_type="application/zip")
        case body:
            return web.Response(status=answer.status, text=_json(body), content_type="application/json")


def _json(body: Any) -> str:
    """Write JSON as Go does: angle brackets arrive escaped."""
    return json.dumps(body).replace("<", "\\u003c").replace(">", "\\u003e")


def _code(answer: Answer) -> str:
    return str(answer.body.get("code", "")) if isinstance(answer.body, dict) else ""


async def _nothing_here(request: web.Request) -> web.Response:
    no = refuse(404, UNKNOWN_CODE, f"The path {request.path} could not be found.")
    return web.json_response(no.body, status=no.status)
