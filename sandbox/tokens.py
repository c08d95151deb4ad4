"""Bearer tokens of the pretend cluster: who a token speaks for, and for how long.

IKS hands out tokens that end after an hour; the API server asks here who calls. Rights are no matter of this module.
"""

import secrets
import time
from dataclasses import dataclass

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"


@dataclass(frozen=True, slots=True)
class Identity:
    """One user of a cluster. `until`: Unix time when the token ends, None for never."""

    user: str
    groups: tuple[str, ...] = ()
    until: float | None = None


ANONYMOUS = Identity("system:anonymous", ("system:unauthenticated",))


class Tokens:
    """The tokens in force."""

    def __init__(self) -> None:
        self._known: dict[str, Identity] = {}

    def issue(
        self, user: str, groups: tuple[str, ...] = (), life: float | None = None, token: str | None = None
    ) -> str:
        """Make a token for `user`, valid for `life` seconds (None: for ever); `token` sets its text."""
        text = token if token is not None else secrets.token_urlsafe(24)
        until = None if life is None else time.time() + life
        self._known[text] = Identity(user, (*groups, AUTHENTICATED), until)
        return text

    def who(self, token: str) -> Identity | None:
        """The user behind a token; None when it is unknown or its time is over."""
        found = self._known.get(token)
        if found is None or (found.until is not None and found.until <= time.time()):
            return None
        return found

    def revoke(self, token: str) -> None:
        """Make a token worthless at once; an unknown one already is."""
        self._known.pop(token, None)
