"""What Slack's documentation says of each method we answer: tier, scopes, required arguments, error strings."""

import json
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent / "data"

#: Errors every method may answer (listed on every method's page).
GENERAL = frozenset({
    "account_inactive", "ekm_access_denied", "fatal_error", "internal_error", "invalid_arguments", "invalid_array_arg",
    "invalid_auth", "invalid_form_data", "invalid_json", "missing_scope", "no_permission", "not_allowed_token_type",
    "not_authed", "ratelimited", "request_timeout", "service_unavailable", "team_added_to_org", "token_expired",
    "token_revoked", "unknown_method",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Facts:
    """One method. `scopes`: any one of them is enough; none means every token may call."""

    tier: str
    scopes: tuple[str, ...]
    required: tuple[str, ...]
    errors: frozenset[str]

    def knows(self, error: str) -> bool:
        return error in self.errors or error in GENERAL


def _read() -> dict[str, Facts]:
    raw = json.loads((DATA / "methods.json").read_text(encoding="utf-8"))
    return {
        name: Facts(row["tier"], tuple(row["scopes"]), tuple(row["required"]), frozenset(row["errors"]))
        for name, row in raw.items()
    }


METHODS = _read()
