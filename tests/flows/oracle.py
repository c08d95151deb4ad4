"""Questions to the world's journal: what the bot changed outside, when, and how often. The bot is never asked.

Calls of the bot are told by the identity they came under: the service id in IKS, `IAM#…` in the cluster.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]

ORDERS = ("updateMaster", "replaceWorker", "createWorkerPool", "removeWorkerPool")
MARK = "kube-system/gpu-migrate"  # the Lease that says who is at work; renewed as often as it likes
LABELS = {"nvidia.com/gpu.deploy.operands": "false", "nvidia.com/gpu.deploy.driver": "false"}

_RANDOM = re.compile(r"(-[bcdfghjklmnpqrstvwxz2456789]{5,})+$")  # what controllers append to names


@dataclass(frozen=True, slots=True)
class Call:
    """One change that the bot asked for and the world made."""

    seq: int
    verb: str
    target: str


def changes(journal: Iterable[Row], cluster: str = "") -> list[Call]:
    """All changes made by the bot's identity, oldest first; refused ones and the marks are left out."""
    return [
        Call(row["seq"], _verb(row), row["target"])
        for row in journal
        if row["status"] < 300 and cluster in ("", row["cluster"]) and _by_the_bot(row)
    ]


def _by_the_bot(row: Row) -> bool:
    if row["system"] == "iks":
        return str(row["actor"]).startswith("ServiceId-") and row["verb"] in ORDERS
    return row["system"] == "kubernetes" and str(row["actor"]).startswith("IAM#") and not _is_mark(row)


def _is_mark(row: Row) -> bool:
    return row["target"] == MARK or bool(mark_of(row))


def mark_of(row: Row) -> dict[str, str]:
    """The mark that a patch wrote onto a node; empty for everything else."""
    body = row["request"].get("body")
    if row["verb"] != "patch nodes" or not isinstance(body, dict):
        return {}
    notes: dict[str, str] = body.get("metadata", {}).get("annotations", {})
    return notes if all(name.startswith("gpu-migrate/") for name in notes) else {}


def _verb(row: Row) -> str:
    body = row["request"].get("body")
    if row["verb"] != "patch nodes" or not isinstance(body, dict):
        return str(row["verb"])
    if "unschedulable" in body.get("spec", {}):
        return "cordon" if body["spec"]["unschedulable"] else "uncordon"
    values = set(body.get("metadata", {}).get("labels", {}).values())
    return "label" if "false" in values else "unlabel" if values == {None} else "patch nodes"


def twice(calls: Iterable[Call]) -> dict[tuple[str, str], int]:
    """Changes that were made more often than once."""
    counted = Counter((call.verb, call.target) for call in calls)
    return {what: times for what, times in counted.items() if times > 1}


def only(calls: Iterable[Call], *verbs: str) -> list[Call]:
    return [call for call in calls if call.verb in verbs]


def targets(calls: Iterable[Call], *verbs: str) -> list[str]:
    return [call.target for call in only(calls, *verbs)]


def away_at_once(journal: Iterable[Row], cluster: str) -> int:
    """How many GPU workers were on their way out or in at the same time, at most.

    A worker is away from the order to replace it until a new one is normal; one that a new pool brings is never away.
    """
    away = most = 0
    for row in journal:
        if row["cluster"] != cluster:
            continue
        if row["verb"] == "replaceWorker" and row["status"] < 300:
            away += 1
        elif row["verb"] == "worker.normal" and "tempgpupool" not in row["target"]:
            away -= 1
        most = max(most, away)
    return most


def stem(name: str) -> str:
    """A pod's name without the random endings that its controllers gave it."""
    return _RANDOM.sub("", name)
