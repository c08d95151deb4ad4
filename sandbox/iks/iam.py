"""A pretend IBM Cloud IAM: API keys in, bearer tokens out.

Who may do what in a cluster is not decided here. Source: reference of the IKS API, section 3.
"""

import base64
import json
import secrets
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from sandbox.faults import Faults, middleware
from sandbox.iks.refusals import Refusal
from sandbox.journal import Journal

API_KEY = "sandbox-api-key"
SUBJECT = "ServiceId-0b07a1d2-3c4e-4f50-8a61-7b82c93d04e5"
PROFILE = "Profile-5f1c2b7e-0000-4a4a-9b9b-1234567890ab"
GRANT = "urn:ibm:params:oauth:grant-type:"


@dataclass(slots=True)
class Accounts:
    """Valid API keys (key → subject), trusted profiles and the tokens handed out. `life`: seconds of a token."""

    life: float = 3600.0
    keys: dict[str, str] = field(default_factory=lambda: {API_KEY: SUBJECT})
    profiles: set[str] = field(default_factory=lambda: {PROFILE})
    _tokens: dict[str, tuple[str, float]] = field(default_factory=dict)

    def issue(self, subject: str) -> str:
        """Hand out a token for `subject`."""
        token = jwt(f"iam-{subject}", self.life)
        self._tokens[token] = (subject, time.time() + self.life)
        return token

    def who(self, token: str) -> str | None:
        """Subject of a valid token; None when unknown or expired."""
        subject, until = self._tokens.get(token, ("", 0.0))
        return subject if time.time() < until else None

    def revoke_all(self) -> None:
        """Make every token that is out invalid."""
        self._tokens.clear()


def jwt(subject: str, life: float) -> str:
    """Make something of a JSON web token's shape; its signature is noise."""
    now = int(time.time())
    claims = {"iss": "https://iam.cloud.ibm.com/identity", "iam_id": subject, "sub": subject, "iat": now}
    parts = (
        {"alg": "RS256", "typ": "JWT", "kid": "sandbox"},
        {**claims, "exp": now + int(life), "jti": secrets.token_hex(8)},
    )
    body = ".".join(_base64(json.dumps(part).encode()) for part in parts)
    return f"{body}.{_base64(secrets.token_bytes(32))}"


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


class IamServer:
    """The token endpoint."""

    def __init__(self, accounts: Accounts, journal: Journal, faults: Faults) -> None:
        self._accounts = accounts
        self._journal = journal
        self._faults = faults

    def app(self) -> web.Application:
        app = web.Application(middlewares=[middleware("iam", self._faults)])
        app.router.add_post("/identity/token", self._token)
        return app

    async def _token(self, request: web.Request) -> web.Response:
        form = {key: value for key, value in (await request.post()).items() if isinstance(value, str)}
        try:
            subject = self._subject(form)
        except Refusal as no:
            self._journal.add("iam", "token", "", status=no.status, request={"grant_type": form.get("grant_type", "")})
            return web.json_response(no.body, status=no.status, headers={"Transaction-Id": uuid.uuid4().hex})
        life = int(self._accounts.life)
        body = {
            "access_token": self._accounts.issue(subject),
            "refresh_token": "not_supported",
            "token_type": "Bearer",
            "expires_in": life,
            "expiration": int(time.time()) + life,
            "scope": "ibm openid",
        }
        return web.json_response(body)

    def _subject(self, form: dict[str, str]) -> str:
        match form.get("grant_type", "").removeprefix(GRANT):
            case "apikey":
                return self._by_key(form.get("apikey", ""))
            case "assume":
                return self._by_profile(form)
            case other:
                raise refuse("BXNIM0106E", f"Property missing or empty: unsupported grant type {other!r}")

    def _by_key(self, key: str) -> str:
        if key not in self._accounts.keys:
            raise refuse("BXNIM0415E", "Provided API key could not be found.")
        return self._accounts.keys[key]

    def _by_profile(self, form: dict[str, str]) -> str:
        if self._accounts.who(form.get("access_token", "")) is None:
            raise refuse("BXNIM0407E", "Provided token is invalid or expired.", 401)
        if form.get("profile_id", "") not in self._accounts.profiles:
            raise refuse("BXNIM0506E", "The profile could not be found.", 404)
        return form["profile_id"]


def refuse(code: str, message: str, status: int = 400) -> Refusal:
    """Build IAM's error answer, which has another shape than IKS's."""
    context: dict[str, Any] = {"requestId": uuid.uuid4().hex, "requestType": "incoming.Identity_Token"}
    return Refusal(status, {"errorCode": code, "errorMessage": message, "errorDetails": message, "context": context})
