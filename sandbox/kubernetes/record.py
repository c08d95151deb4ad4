"""What the journal learns of a write: who did what to which object, and a small summary of the effect."""

import json
from typing import Any

from sandbox.journal import Journal
from sandbox.kubernetes.cluster import Call

MUTATING = frozenset({"create", "update", "patch", "delete", "deletecollection"})
ASKED_ONLY = frozenset({"authorization.k8s.io", "authentication.k8s.io"})
BODY_KEPT = 2000  # characters of a body that the journal keeps


def note(journal: Journal, call: Call, status: int) -> None:
    """Add a write, accepted or refused on its merits; reads, dry runs and questions about rights leave no trace."""
    if call.verb not in MUTATING or call.dry_run or call.resource is None or call.group in ASKED_ONLY or status == 401:
        return
    full = f"{call.plural}/{call.subresource}" if call.subresource else call.plural
    verb = f"evict {call.plural}" if call.subresource == "eviction" else f"{call.verb} {full}"
    target = "/".join(part for part in (call.namespace if call.resource.namespaced else "", call.name) if part)
    journal.add(
        "kubernetes",
        verb,
        target,
        cluster=call.cluster.name,
        actor=call.identity.user,
        status=status,
        request={"method": call.method, "path": call.path, "query": dict(call.query), "body": _body(call)},
        effect=dict(call.effect),
    )


def _body(call: Call) -> Any:
    """The body as far as it fits; Secrets stay out."""
    if call.plural == "secrets" or call.subresource == "token" or not call.body:
        return None
    if len(call.body) > BODY_KEPT:
        return f"({len(call.body)} bytes)"
    try:
        return json.loads(call.body)
    except ValueError:
        return call.body.decode(errors="replace")
