"""/api/<method>: read the arguments, know the caller, keep to the limits, call the method, remember it in the journal.

Every answer but 429 is HTTP 200, as Slack does it. What methods mean is in methods/.
"""

import json
from typing import Any

from aiohttp import web

from sandbox.journal import Journal
from sandbox.slack import identity
from sandbox.slack.call import Answer, Call
from sandbox.slack.errors import SlackError, explained, refuse_deep
from sandbox.slack.interactivity import Triggers
from sandbox.slack.limits import Limits
from sandbox.slack.method_facts import METHODS
from sandbox.slack.methods import READS, REGISTRY
from sandbox.slack.sockets import Sockets
from sandbox.slack.workspace import Workspace

LONGEST_JOURNAL_TEXT = 20_000
#: What parsing a body of unknown origin raises: bad bytes, an unknown charset, thousands of brackets.
UNREADABLE = (ValueError, LookupError, RecursionError)


class WebApi:
    """The Web API of one workspace."""

    def __init__(self, workspace: Workspace, triggers: Triggers, sockets: Sockets, journal: Journal) -> None:
        self.limits = Limits()
        self.revoked: set[str] = set()
        self._workspace = workspace
        self._triggers = triggers
        self._sockets = sockets
        self._journal = journal

    def routes(self) -> tuple[web.RouteDef, ...]:
        return (web.route("*", "/api/{method}", self.handle),)

    async def handle(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        args: dict[str, Any] = {}
        try:
            args = await _arguments(request)
            token = _token(request, args)
            self._authenticate(method, token)
            wait = self.limits.retry_after(method, str(args.get("channel", "")))
            if wait:
                return self._limited(method, args, wait)
            answer = self._call(method, args, f"{request.scheme}://{request.host}")
        except SlackError as refusal:
            answer = self._refusal(method, refusal)
        self._remember(method, args, 200, answer)
        return web.json_response(answer, headers=self._headers(method))

    def _call(self, method: str, args: dict[str, Any], base: str) -> Answer:
        facts = METHODS[method]
        if facts.scopes and not self._workspace.scopes.intersection(facts.scopes):
            provided = ",".join(sorted(self._workspace.scopes))
            raise SlackError("missing_scope", needed=",".join(facts.scopes), provided=provided)
        missing = [name for name in facts.required if args.get(name) in (None, "")]
        if missing:
            raise explained("invalid_arguments", *(f"missing required field: {name}" for name in missing))
        if method == "apps.connections.open":
            socket = base.replace("http", "ws", 1)
            return {"ok": True, "url": f"{socket}/link?ticket={self._sockets.ticket()}&app_id={identity.APP_ID}"}
        return {"ok": True, **REGISTRY[method](Call(method, args, self._workspace, self._triggers, base))}

    def _authenticate(self, method: str, token: str) -> None:
        """Slack names the token's fault before anything else; an unknown method comes next."""
        if not token:
            raise SlackError("not_authed")
        if token in self.revoked:
            raise SlackError("token_revoked")
        if token not in (identity.BOT_TOKEN, identity.APP_TOKEN):
            raise SlackError("invalid_auth")
        if method not in METHODS:
            raise SlackError("unknown_method", req_method=method)
        wanted = identity.APP_TOKEN if method == "apps.connections.open" else identity.BOT_TOKEN
        if token != wanted:
            raise SlackError("not_allowed_token_type")

    def _refusal(self, method: str, refusal: SlackError) -> Answer:
        facts = METHODS.get(method)
        assert facts is None or facts.knows(refusal.error), f"{method} never answers {refusal.error}"
        return refusal.answer()

    def _limited(self, method: str, args: dict[str, Any], wait: int) -> web.Response:
        answer = {"ok": False, "error": "ratelimited"}
        self._remember(method, args, 429, answer)
        return web.json_response(answer, status=429, headers={"Retry-After": str(wait)})

    def _headers(self, method: str) -> dict[str, str]:
        facts = METHODS.get(method)
        accepted = ",".join(facts.scopes) if facts else ""
        return {"x-oauth-scopes": ",".join(sorted(self._workspace.scopes)), "x-accepted-oauth-scopes": accepted}

    def _remember(self, method: str, args: dict[str, Any], status: int, answer: Answer) -> None:
        if method in READS or method not in METHODS:
            return
        target = next((str(args[key]) for key in ("channel", "users", "user_id", "view_id") if args.get(key)), "")
        effect = {key: answer[key] for key in ("ok", "error", "channel", "ts", "message_ts") if key in answer}
        request = {"method": method, "args": {key: _short(value) for key, value in args.items()}}
        self._journal.add(
            "slack", method, target, actor=identity.BOT_USER, status=status, request=request, effect=effect
        )


async def _arguments(request: web.Request) -> dict[str, Any]:
    """Query, form or JSON arguments in one dictionary. Raises invalid_json or invalid_form_data."""
    args: dict[str, Any] = dict(request.query)
    if request.content_type == "application/json":
        try:
            body = json.loads(await request.text() or "{}")
        except UNREADABLE as exc:
            raise SlackError("invalid_json") from exc
        if not isinstance(body, dict):
            raise SlackError("invalid_json")
        refuse_deep(body)
        return {**args, **body}
    try:
        form = await request.post()
    except UNREADABLE as exc:
        raise SlackError("invalid_form_data") from exc
    return {**args, **{key: value for key, value in form.items() if isinstance(value, str)}}


def _token(request: web.Request, args: dict[str, Any]) -> str:
    """The token of the Authorization header, or of a form; taken out of the arguments so that nothing remembers it."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    given = args.pop("token", "")
    if scheme.lower() == "bearer" and token:
        return token.strip()
    return str(given) if request.content_type != "application/json" else ""


def _short(value: Any) -> Any:
    return value[:LONGEST_JOURNAL_TEXT] if isinstance(value, str) else value
