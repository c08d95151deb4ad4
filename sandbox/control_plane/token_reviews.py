"""Answers kube-apiserver's question whose token that is (authentication.k8s.io/v1 TokenReview), from Tokens.

Rights are decided by the API server itself, with RBAC.
"""

from typing import Any

from aiohttp import web

from sandbox.tokens import Identity, Tokens


class TokenReviews:
    """The webhook of one cluster."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/{path:.*}", self._review)
        return app

    async def _review(self, request: web.Request) -> web.Response:
        try:
            token = str((await request.json())["spec"]["token"])
        except (ValueError, KeyError, TypeError):
            return web.Response(status=400, text="not a TokenReview")
        status = _verdict(self._tokens.who(token))
        return web.json_response({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": status})


def _verdict(found: Identity | None) -> dict[str, Any]:
    if found is None:
        return {"authenticated": False, "error": "the token is unknown or its time is over"}
    return {"authenticated": True, "user": {"username": found.user, "groups": list(found.groups)}}
