"""Calls to one API server: deadlines, credentials and the translation of every way in which a call can fail.

Raw JSON only; what objects mean is read elsewhere. Nothing here repeats a call, but for one thing: a request that was
refused for its credentials (401, or a certificate that changed) is sent once more with a fresh kubeconfig.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote, urlencode

import aiohttp

from bot.adapters.kubeconfigs import Kubeconfig, KubeconfigCache
from bot.adapters.kubernetes.access import Access, read_access, tls
from bot.adapters.kubernetes.answers import Answer, parsed, refuse, retry_after
from bot.adapters.kubernetes.channel import Channel, words
from bot.adapters.kubernetes.endpoint import Silence
from bot.adapters.kubernetes.fields import Json
from bot.adapters.kubernetes.settings import Limits
from state.errors import GpuMigrateError, OutcomeUnknown, PermanentError, TransientError
from state.reasons import Code, reason

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"


@dataclass(frozen=True, slots=True)
class Call:
    """One request.

    Attributes:
        path: names in it are already escaped (`segment`).
        safe: it changes nothing although it is no GET (access reviews, dry runs).
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Json | None = None
    content_type: str = JSON
    accept: str = JSON
    safe: bool = False
    seconds: float | None = None

    @property
    def mutating(self) -> bool:
        return self.method != "GET" and not self.safe

    @property
    def target(self) -> str:
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path


def segment(name: str) -> str:
    """Escape a name for a path; what comes from outside must not lead to another object."""
    return quote(name, safe="") if name.strip(".") else quote(name, safe="").replace(".", "%2E")


class Connection:
    """The one connection of a cluster; everything that talks to its API server shares it."""

    def __init__(self, kubeconfigs: KubeconfigCache, limits: Limits, proxy: str = "") -> None:
        self._kubeconfigs = kubeconfigs
        self._limits = limits
        self._proxy = proxy
        self._silence = Silence(limits.silence, limits.longest_silence)
        self._channel: Channel | None = None
        self._known: tuple[Kubeconfig, Access] | None = None
        self._opening = asyncio.Lock()
        self._retiring: set[asyncio.Task[None]] = set()

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> Json | None:
        """Read one object; None when it does not exist (an unknown path included)."""
        answer = await self.call(Call("GET", path, query or {}))
        if answer.status == 404:
            return None
        return checked(answer).body

    async def call(self, call: Call) -> Answer:
        """Send a request and read its whole answer, whatever its status.

        TransientError when nothing can have happened, OutcomeUnknown when a mutating request may have arrived.
        """
        seconds = call.seconds or (self._limits.write if call.mutating else self._limits.read)
        sent = _Sent()
        try:
            async with asyncio.timeout(seconds), self._response(call, sent) as response:
                raw = await self._body(response)
                self._silence.answered()
                return _answer(response, raw)
        except TimeoutError as exc:
            raise self._lost(call, sent, f"{sent.waiting_for} within {seconds:g} s") from exc
        except (aiohttp.ClientError, OSError, ValueError) as exc:
            raise self._lost(call, sent, words(exc)) from exc

    @contextlib.asynccontextmanager
    async def stream(self, call: Call) -> AsyncIterator[aiohttp.StreamReader]:
        """Open a watch and give its bytes as they come. The reader of the stream owns the deadlines in between.

        Errors of opening are ours; those of reading are aiohttp's and OSError, which end a watch the normal way.
        """
        sent = _Sent()
        async with contextlib.AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(self._limits.read):
                    response = await stack.enter_async_context(self._response(call, sent))
                    self._silence.answered()
                    if response.status != 200:
                        raise refuse(_answer(response, await self._body(response)), mutating=False)
            except TimeoutError as exc:
                raise self._lost(call, sent, f"{sent.waiting_for} within {self._limits.read:g} s") from exc
            except (aiohttp.ClientError, OSError, ValueError) as exc:
                raise self._lost(call, sent, words(exc)) from exc
            yield response.content

    def renew(self) -> None:
        """Forget kubeconfig and connections; the next call starts from nothing."""
        self._kubeconfigs.forget()
        self._known = None
        self._drop()

    async def aclose(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.aclose()
        if self._retiring:
            await asyncio.gather(*self._retiring)

    @contextlib.asynccontextmanager
    async def _response(self, call: Call, sent: "_Sent") -> AsyncIterator[aiohttp.ClientResponse]:
        """Send, and once more with a fresh kubeconfig when the credentials were refused."""
        used = await self._kubeconfigs.current()
        async with contextlib.AsyncExitStack() as stack:
            try:
                response = await self._send(await self._enter(stack, used), call, sent)
                refused = response.status == 401
            except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError):
                fresh = await self._kubeconfigs.renewed(used)
                if fresh is used:
                    raise
                refused = True
            else:
                stack.callback(response.close)
                fresh = await self._kubeconfigs.renewed(used) if refused else used
            if refused and fresh is not used:
                sent.maybe = False
                response = await self._send(await self._enter(stack, fresh), call, sent)
                stack.callback(response.close)
            yield response

    async def _enter(self, stack: contextlib.AsyncExitStack, config: Kubeconfig) -> "_Way":
        way = await self._open(config)
        await stack.enter_async_context(way.channel)
        return way

    async def _send(self, way: "_Way", call: Call, sent: "_Sent") -> aiohttp.ClientResponse:
        headers = {"Accept": call.accept}
        body = None
        if call.body is not None:
            headers["Content-Type"] = call.content_type
            body = json.dumps(call.body).encode()
        if way.token:
            headers["Authorization"] = f"Bearer {way.token}"
        sent.maybe, sent.waiting_for = True, "no answer"
        try:
            return await way.channel.request(call.method, call.target, headers=headers, body=body, lone=call.mutating)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.ClientProxyConnectionError):
            sent.maybe = False
            raise

    async def _open(self, config: Kubeconfig) -> "_Way":
        """Find or make the channel for this kubeconfig; a new token alone keeps the connections."""
        async with self._opening:
            if self._known is None or self._known[0] is not config:
                self._known = (config, self._access(config))
            access = self._known[1]
            if self._channel is not None and self._channel.access.endpoint != access.endpoint:
                self._drop()
            if self._channel is None:
                self._channel = Channel(access, await asyncio.to_thread(tls, access), self._limits)
            return _Way(self._channel, access.token)

    def _access(self, config: Kubeconfig) -> Access:
        try:
            access = read_access(config.raw)
        except PermanentError:
            self._kubeconfigs.doubt()  # the next one may be better
            raise
        if self._proxy and not access.proxy and access.server.startswith("https:"):
            return replace(access, proxy=self._proxy)
        return access

    def _drop(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            task = asyncio.get_running_loop().create_task(channel.retire())
            self._retiring.add(task)
            task.add_done_callback(self._retiring.discard)

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        """Read it all, up to the size that no honest answer reaches."""
        length = response.content_length or 0
        chunks = bytearray()
        if length <= self._limits.largest_answer:
            async for chunk in response.content.iter_any():
                chunks += chunk
                if len(chunks) > self._limits.largest_answer:
                    break
            else:
                return bytes(chunks)
        raise aiohttp.ClientPayloadError("answer too large")

    def _lost(self, call: Call, sent: "_Sent", detail: str) -> GpuMigrateError:
        if self._silence.failed():
            self._kubeconfigs.doubt()
        why = reason(Code.API_UNREACHABLE, detail=detail)
        return OutcomeUnknown(why) if call.mutating and sent.maybe else TransientError(why)


def checked(answer: Answer, *, mutating: bool = False) -> Answer:
    """Let good answers pass and raise for all others."""
    if not answer.good:
        raise refuse(answer, mutating=mutating)
    return answer


@dataclass(frozen=True, slots=True)
class _Way:
    channel: Channel
    token: str


@dataclass(slots=True)
class _Sent:
    """Whether the request can have reached the server, and what is being waited for."""

    maybe: bool = False
    waiting_for: str = "no kubeconfig"


def _answer(response: aiohttp.ClientResponse, raw: bytes) -> Answer:
    wait = retry_after(response.headers.get("Retry-After"))
    body = parsed(raw)
    if not isinstance(body, dict):
        return Answer(response.status, {}, readable=False, retry_after=wait)
    return Answer(response.status, body, retry_after=wait)
