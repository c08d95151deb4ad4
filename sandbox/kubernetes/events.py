"""One store of events in two spellings: core/v1 and events.k8s.io/v1."""

from typing import Any

Obj = dict[str, Any]

# field of events.k8s.io/v1 -> field of core/v1
NAMES = {
    "note": "message",
    "regarding": "involvedObject",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
CORE_NAMES = {core: new for new, core in NAMES.items()}
NEW_LEFT_OUT = frozenset({"reportingController", "reportingInstance", "note"})


def to_core(event: Obj) -> Obj:
    """An events.k8s.io/v1 event as it is stored."""
    return {**{NAMES.get(key, key): value for key, value in event.items()}, "apiVersion": "v1"}


def to_new(event: Obj) -> Obj:
    """A stored event as events.k8s.io/v1 shows it."""
    renamed = {CORE_NAMES.get(key, key): value for key, value in event.items()}
    shown = {key: value for key, value in renamed.items() if not (key in NEW_LEFT_OUT and value == "")}
    return {**shown, "apiVersion": "events.k8s.io/v1"}
