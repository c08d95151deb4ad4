"""The disruption controller: what each PodDisruptionBudget allows now.

Numbers and conditions as recorded from a control plane v1.36.2.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from sandbox.controllers import pods
from sandbox.controllers.desk import Desk, stamp
from sandbox.controllers.resources import BUDGETS, DEPLOYMENTS, PODS, REPLICA_SETS, STATEFUL_SETS
from sandbox.controllers.selectors import matches
from sandbox.controllers.templates import share
from sandbox.kubernetes_client import Json

PATIENCE = timedelta(minutes=2)  # how long an evicted pod that does not go counts as disrupted


class Disruption:
    """All budgets."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._budgets = desk.mirror(BUDGETS)
        self._pods = desk.mirror(PODS)
        self._scales = [desk.mirror(one) for one in (DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS)]

    async def reconcile(self) -> float | None:
        """Count again for every budget."""
        everything = self._pods.objects()
        scales = {one["metadata"]["uid"]: one for mirror in self._scales for one in mirror.objects()}
        for budget in self._budgets.objects():
            mine = [pod for pod in everything if _covers(budget, pod)]
            await self._desk.guard(self._tell(budget, mine, status_of(budget, mine, scales, datetime.now(UTC))))
        return None

    async def _tell(self, budget: Json, mine: list[Json], status: Json) -> None:
        have = budget.get("status") or {}
        if not _changed(status, have):
            return
        if not mine and not have.get("conditions"):
            await self._desk.event(budget, "NoPods", "No matching pods found", component="controllermanager")
        written = {**status, "disruptedPods": _only(budget, status["disruptedPods"])}
        await self._desk.patch(BUDGETS, budget, {"status": written}, sub="status")


def status_of(budget: Json, mine: list[Json], scales: dict[str, Json], now: datetime) -> Json:
    """The status of a budget that covers these pods. `scales`: uid -> owner that knows its size."""
    expected = _expected(budget, mine, scales)
    desired = _desired(budget, expected)
    disrupted = _still_disrupted(budget, mine, now)
    healthy = sum(_healthy(pod) and pod["metadata"]["name"] not in disrupted for pod in mine)
    allowed = max(0, healthy - desired) if expected else 0
    generation = budget["metadata"].get("generation", 1)
    known = pods.condition(budget, "DisruptionAllowed") or {}
    flag = "True" if allowed else "False"
    row = {
        "type": "DisruptionAllowed",
        "status": flag,
        "reason": "SufficientPods" if allowed else "InsufficientPods",
        "message": "",
        "observedGeneration": generation,
        "lastTransitionTime": known["lastTransitionTime"] if known.get("status") == flag else stamp(),
    }
    return {
        "disruptionsAllowed": allowed,
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "expectedPods": expected,
        "observedGeneration": generation,
        "disruptedPods": disrupted,
        "conditions": [row],
    }


def _desired(budget: Json, expected: int) -> int:
    spec = budget["spec"]
    if spec.get("maxUnavailable") is not None:
        return max(0, expected - share(spec["maxUnavailable"], expected, up=True))
    return share(spec.get("minAvailable"), expected, up=True, default=1)


def _expected(budget: Json, mine: list[Json], scales: dict[str, Json]) -> int:
    """By the owners' sizes where the budget speaks of shares or absences; else the pods that are there."""
    floor = budget["spec"].get("minAvailable")
    if isinstance(floor, int):
        return len(mine)
    owners: dict[str, int] = {}
    bare = 0
    for pod in mine:
        top = _top(pods.controller_uid(pod), scales)
        if top is None:
            bare += 1
        else:
            owners[top["metadata"]["uid"]] = int(top["spec"].get("replicas", 1))
    return bare + sum(owners.values())


def _top(uid: str, scales: dict[str, Json]) -> Json | None:
    found = scales.get(uid)
    if found is None:
        return None
    return _top(pods.controller_uid(found), scales) or found


def _still_disrupted(budget: Json, mine: Iterable[Json], now: datetime) -> dict[str, str]:
    """Pods whose eviction was accepted and which are neither gone nor going yet."""
    rows: dict[str, str] = (budget.get("status") or {}).get("disruptedPods") or {}
    staying = {pod["metadata"]["name"] for pod in mine if not pods.deleting(pod)}
    return {name: at for name, at in rows.items() if name in staying and _parsed(at) + PATIENCE > now}


def _healthy(pod: Json) -> bool:
    return pods.ready(pod) and not pods.deleting(pod)


def _covers(budget: Json, pod: Json) -> bool:
    same = budget["metadata"].get("namespace") == pod["metadata"].get("namespace")
    labels = pod["metadata"].get("labels") or {}
    return same and matches(budget["spec"].get("selector"), labels) and not pods.finished(pod)


def _only(budget: Json, kept: dict[str, str]) -> dict[str, str | None]:
    """A merge patch that leaves exactly `kept`."""
    rows: dict[str, str] = (budget.get("status") or {}).get("disruptedPods") or {}
    return {**dict.fromkeys(rows), **kept}


def _changed(status: Json, have: Json) -> bool:
    flags = [(row["status"], row.get("observedGeneration")) for row in status["conditions"]]
    known = [(row["status"], row.get("observedGeneration")) for row in have.get("conditions") or ()]
    counts = {key: value for key, value in status.items() if key != "conditions"}
    return flags != known or any((have.get(key) or 0) != (value or 0) for key, value in counts.items())


def _parsed(text: str) -> datetime:
    return datetime.fromisoformat(text)
