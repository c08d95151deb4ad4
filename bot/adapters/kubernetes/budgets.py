"""Raw PodDisruptionBudget → Budget, with the pods that its selector picks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bot.adapters.kubernetes.connection import segment
from bot.adapters.kubernetes.fields import Json, count, rows, strings, table, text
from bot.adapters.kubernetes.pods import SeenPod
from state.snapshot import Budget

PATH = "/apis/policy/v1/poddisruptionbudgets"


def namespaced(namespace: str) -> str:
    return f"/apis/policy/v1/namespaces/{segment(namespace)}/poddisruptionbudgets"


@dataclass(frozen=True, slots=True)
class Selector:
    """A label selector. An empty one picks everything, an absent one nothing."""

    present: bool
    labels: Mapping[str, str]
    expressions: tuple[tuple[str, str, tuple[str, ...]], ...] = ()  # key, operator, values

    def picks(self, labels: Mapping[str, str]) -> bool:
        return (
            self.present
            and all(labels.get(key) == value for key, value in self.labels.items())
            and all(_holds(expression, labels) for expression in self.expressions)
        )


@dataclass(frozen=True, slots=True)
class ListedBudget:
    budget: Budget
    selector: Selector

    def guards(self, namespace: str, labels: Mapping[str, str]) -> bool:
        return self.budget.namespace == namespace and self.selector.picks(labels)


def project_budget(raw: Json) -> ListedBudget:
    metadata, spec, status = table(raw, "metadata"), table(raw, "spec"), table(raw, "status")
    budget = Budget(
        namespace=text(metadata, "namespace"),
        name=text(metadata, "name"),
        allowed=count(status, "disruptionsAllowed"),
        healthy=count(status, "currentHealthy"),
        wanted=count(status, "desiredHealthy"),
        always_allow=spec.get("unhealthyPodEvictionPolicy") == "AlwaysAllow",
    )
    return ListedBudget(budget, read_selector(spec.get("selector")))


def read_selector(raw: object) -> Selector:
    if not isinstance(raw, dict):
        return Selector(False, {})
    expressions = tuple(
        (text(row, "key"), text(row, "operator"), tuple(v for v in row.get("values") or () if isinstance(v, str)))
        for row in rows(raw, "matchExpressions")
    )
    return Selector(True, strings(raw, "matchLabels"), expressions)


def guarding(budgets: Iterable[ListedBudget], pods: Iterable[SeenPod]) -> tuple[Budget, ...]:
    """Give the budgets that guard any of these pods, each with their uids."""
    by_namespace: dict[str, list[SeenPod]] = {}
    for seen in pods:
        by_namespace.setdefault(seen.pod.namespace, []).append(seen)
    found = []
    for listed in budgets:
        near = by_namespace.get(listed.budget.namespace, ())
        uids = tuple(seen.pod.uid for seen in near if listed.selector.picks(seen.labels))
        if uids:
            found.append(replace(listed.budget, pods=uids))
    return tuple(found)


def _holds(expression: tuple[str, str, tuple[str, ...]], labels: Mapping[str, str]) -> bool:
    key, operator, values = expression
    match operator:
        case "In":
            return labels.get(key) in values
        case "NotIn":  # codespell:ignore
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case _:
            return False
