"""Modals and Home tabs that are open, with the hashes and limits Slack keeps on them.

What a view shows is checked elsewhere; this module never calls the app.
"""

import itertools
import time
from dataclasses import dataclass, field
from typing import Any

from sandbox.slack import identity
from sandbox.slack.errors import SlackError

STACK = 3
#: Keys of a view that come from the app; Slack adds the rest.
GIVEN = (
    "type",
    "title",
    "submit",
    "close",
    "blocks",
    "private_metadata",
    "callback_id",
    "external_id",
    "clear_on_close",
    "notify_on_close",
    "submit_disabled",
)
DEFAULTS: dict[str, Any] = {
    "title": None,
    "submit": None,
    "close": None,
    "private_metadata": "",
    "callback_id": "",
    "external_id": "",
    "clear_on_close": False,
    "notify_on_close": False,
    "submit_disabled": False,
    "previous_view_id": None,
}


@dataclass(slots=True)
class View:
    """One view: `body` is Slack's view object, `user` the person before whose eyes it is."""

    user: str
    body: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.body["id"])


@dataclass(slots=True)
class Views:
    """Home tab and stack of modals per person."""

    homes: dict[str, View] = field(default_factory=dict)
    stacks: dict[str, list[View]] = field(default_factory=dict)
    _ids: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def find(self, view_id: str = "", external_id: str = "") -> View | None:
        everything = [*self.homes.values(), *(view for stack in self.stacks.values() for view in stack)]
        for view in everything:
            if view_id == view.id or (external_id and external_id == view.body["external_id"]):
                return view
        return None

    def top(self, user: str) -> View | None:
        stack = self.stacks.get(user)
        return stack[-1] if stack else None

    def publish(self, user: str, given: dict[str, Any], expected: str = "") -> View:
        """Replace a person's Home tab. `expected`: hash it must still have; "" overwrites."""
        old = self.homes.get(user)
        if old is not None and expected and expected != old.body["hash"]:
            raise SlackError("hash_conflict")
        view = self._made(user, given)
        if old is not None:
            view.body["id"] = view.body["root_view_id"] = old.id
        self.homes[user] = view
        return view

    def push(self, user: str, given: dict[str, Any]) -> View:
        """Open a modal on top of the person's others; three is the most Slack stacks."""
        stack = self.stacks.setdefault(user, [])
        if len(stack) >= STACK:
            raise SlackError("push_limit_reached")
        self._refuse_duplicate(given)
        view = self._made(user, given)
        if stack:
            view.body.update(root_view_id=stack[0].id, previous_view_id=stack[-1].id)
        stack.append(view)
        return view

    def update(self, view: View, given: dict[str, Any], expected: str = "") -> View:
        """Replace what a view shows, keeping its place. Stale `expected` hashes are refused."""
        if expected and expected != view.body["hash"]:
            raise SlackError("hash_conflict")
        kept = {key: view.body[key] for key in ("id", "root_view_id", "previous_view_id")}
        view.body = {**self._made(view.user, given).body, **kept}
        return view

    def close(self, user: str, *, everything: bool = False) -> list[View]:
        """Take the person's topmost modal away, or all of them; what was closed, topmost first."""
        stack = self.stacks.get(user, [])
        closed = list(reversed(stack)) if everything else stack[-1:]
        for view in closed:
            stack.remove(view)
        return closed

    def _refuse_duplicate(self, given: dict[str, Any]) -> None:
        external_id = given.get("external_id")
        if external_id and self.find(external_id=external_id):
            raise SlackError("duplicate_external_id")

    def _made(self, user: str, given: dict[str, Any]) -> View:
        view_id = f"V{next(self._ids):010X}"
        body = {
            "id": view_id,
            "team_id": identity.TEAM_ID,
            **DEFAULTS,
            **{key: given[key] for key in GIVEN if given.get(key) is not None},
            "state": {"values": {}},
            "hash": f"{time.time_ns() / 1e9:.6f}.{view_id[-6:]}",
            "root_view_id": view_id,
            "app_id": identity.APP_ID,
            "app_installed_team_id": identity.TEAM_ID,
            "bot_id": identity.BOT_ID,
        }
        return View(user, body)
