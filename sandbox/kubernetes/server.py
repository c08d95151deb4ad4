"""The pretend API server over HTTP: who asks, what is asked, the answer, the journal; outages on command."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import web

from sandbox.faults import Faults
from sandbox.faults import middleware as faults_middleware
from sandbox.journal import Journal
from sandbox.kubernetes import garbage, handling, protobuf, rbac, seeds
from sandbox.kubernetes.cluster import Call, Cluster, Reply
from sandbox.kubernetes.negotiation import chosen, rendered
from sandbox.kubernetes.record import note
from sandbox.kubernetes.routing import understand
from sandbox.kubernetes.statuses import (
    ApiError,
    PlainNotFoundError,
    method_not_allowed,
    unauthorized,
    unsupported_media,
)
from sandbox.kubernetes.streaming import stream
from sandbox.outage import Outage
from sandbox.tokens import ANONYMOUS, Identity, Tokens

LARGEST_BODY = 3 * 2**20  # as the real server


class KubernetesServer:
    """One cluster's API server.

    `name` is the cluster's name in the journal, `version` the git version that /version gives.
    """

    def __init__(
        self, name: str, journal: Journal, faults: Faults, tokens: Tokens, version: str = "v1.35.4+IKS"
    ) -> None:
        self.cluster = Cluster(name, tokens, version)
        self._journal = journal
        self._faults = faults
        self._outage = Outage()
        seeds.plant(self.cluster)

    def app(self) -> web.Application:
        """The application; its clean-up ends all watches."""
        middlewares = [self._outage.middleware, faults_middleware("kubernetes", self._faults)]
        app = web.Application(middlewares=middlewares, client_max_size=LARGEST_BODY)
        app.router.add_route("*", "/{path:.*}", self._answer)
        app.cleanup_ctx.append(self._tidying)
        app.on_shutdown.append(self._outage.hang_up)
        return app

    def set_version(self, git_version: str) -> None:
        """Be another release from now on, as after a master update."""
        self.cluster.version = git_version

    def forget_history(self) -> None:
        """Answer watches from any older version with 410 Expired from now on."""
        self.cluster.store.forget()

    async def outage(self, seconds: float) -> None:
        """Answer nobody for a while and cut every open watch; returns when it is over."""
        await self._outage.last(seconds)

    async def _tidying(self, _: web.Application) -> AsyncIterator[None]:
        task = asyncio.create_task(garbage.Garbage(self.cluster).run())
        yield
        task.cancel()
        await asyncio.wait([task])

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        call = Call(
            cluster=self.cluster,
            method=request.method,
            path=request.path,
            query=request.query,
            body=await request.read(),
            content_type=request.headers.get("Content-Type", "application/json").split(";")[0].strip(),
            accept=request.headers.get("Accept", "*/*"),
            user_agent=request.headers.get("User-Agent", ""),
        )
        try:
            call.identity = self._identity(request)
            understand(call)
            rbac.authorize(call)
            _unpack(call)
            if _is_watch(call):
                return await stream(call, request)
            wanted = chosen(call)
            reply = await handling.handle(call, request.host)
            return self._sent(call, reply, rendered(call, reply, wanted))
        except ApiError as error:
            return self._refused(call, error)
        except PlainNotFoundError:
            return web.Response(status=404, text="404 page not found\n", headers={"X-Content-Type-Options": "nosniff"})

    def _identity(self, request: web.Request) -> Identity:
        """Who asks. Raises ApiError 401 for a token nobody issued or whose time is over."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if not scheme:
            return ANONYMOUS
        found = self.cluster.tokens.who(token.strip()) if scheme.lower() == "bearer" else None
        if found is None:
            raise unauthorized()
        return found

    def _sent(self, call: Call, reply: Reply, content: tuple[bytes, str]) -> web.Response:
        body, content_type = content
        headers = {**reply.headers, "Audit-Id": str(self.cluster.store.version), "Cache-Control": "no-cache, private"}
        if content_type:
            headers["Content-Type"] = content_type
        note(self._journal, call, reply.status)
        response = web.Response(body=body, status=reply.status, headers=headers)
        for warning in call.warnings:
            response.headers.add("Warning", f"299 - {json.dumps(warning, ensure_ascii=False)}")
        return response

    def _refused(self, call: Call, error: ApiError) -> web.Response:
        if error.code not in (401, 403) or call.plural:
            note(self._journal, call, error.code)
        headers = {"Content-Type": "application/json", **error.headers}
        response = web.Response(body=json.dumps(error.body()).encode(), status=error.code, headers=headers)
        for warning in call.warnings:
            response.headers.add("Warning", f"299 - {json.dumps(warning, ensure_ascii=False)}")
        return response


def _unpack(call: Call) -> None:
    """Turn a protobuf body into JSON. Raises ApiError 415 for kinds that are not read."""
    if call.content_type != protobuf.MEDIA or not call.body:
        return
    try:
        call.body, call.content_type = protobuf.as_json(call.body), "application/json"
    except protobuf.UnreadableError as error:
        raise unsupported_media(str(error), bare=True) from error


def _is_watch(call: Call) -> bool:
    if call.verb != "watch" or call.resource is None:
        return False
    row: dict[str, Any] = call.resource.row() or {}
    if "watch" not in row.get("verbs", ()):
        raise method_not_allowed()
    return True
