"""What other pods say about where a pod may run: spread constraints, affinity and anti-affinity between pods.

Pure; wording of kube-scheduler v1.36.2. Only required rules are judged.
"""

from collections import Counter
from collections.abc import Sequence

from sandbox.controllers import pods, selectors
from sandbox.kubernetes_client import Json

Located = Sequence[tuple[Json, str]]  # pods and the names of their nodes, "" for none

SPREAD = "node(s) didn't match pod topology spread constraints"
SPREAD_LABEL = "node(s) didn't match pod topology spread constraints (missing required label)"
UNMET = "node(s) didn't match pod affinity rules"
ANTI = "node(s) didn't match pod anti-affinity rules"
ANTI_EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"


def spread_conflict(pod: Json, node: Json, nodes: Sequence[Json], located: Located) -> str:
    """Why the node would make the pod's group too uneven; "" when it would not."""
    for rule in pod["spec"].get("topologySpreadConstraints") or ():
        if rule.get("whenUnsatisfiable") != "DoNotSchedule":
            continue
        key, here = rule["topologyKey"], _domain(node, rule["topologyKey"])
        if here is None:
            return SPREAD_LABEL
        eligible = {
            one["metadata"]["name"]: _domain(one, key) for one in nodes if selectors.node_wanted(pod["spec"], one)
        }
        counts: Counter[str] = Counter({domain: 0 for domain in eligible.values() if domain is not None})
        for other, name in located:
            domain = eligible.get(name)
            if domain is not None and _selects(rule, pod, other) and not pods.deleting(other):
                counts[domain] += 1
        least = min(counts.values(), default=0)
        if counts[here] + 1 - least > int(rule.get("maxSkew", 1)):
            return SPREAD
    return ""


def affinity_conflict(pod: Json, node: Json, nodes: Sequence[Json], located: Located) -> str:
    """Why the neighbours forbid the node; "" when they don't."""
    domains = {one["metadata"]["name"]: one for one in nodes}
    if any(_unmet(term, pod, node, domains, located) for term in _required(pod, "podAffinity")):
        return UNMET
    if any(_near(term, pod, node, domains, located) for term in _required(pod, "podAntiAffinity")):
        return ANTI
    for other, name in located:
        for term in _required(other, "podAntiAffinity"):
            there = domains.get(name)
            if there is not None and _selects(term, other, pod) and _same_domain(term, node, there):
                return ANTI_EXISTING
    return ""


def _unmet(term: Json, pod: Json, node: Json, domains: dict[str, Json], located: Located) -> bool:
    if _near(term, pod, node, domains, located):
        return False
    anywhere = any(name and _selects(term, pod, other) for other, name in located)
    return anywhere or not _selects(term, pod, pod)  # the first of a group may start the group


def _near(term: Json, pod: Json, node: Json, domains: dict[str, Json], located: Located) -> bool:
    return any(
        name in domains and other is not pod and _selects(term, pod, other) and _same_domain(term, node, domains[name])
        for other, name in located
    )


def _same_domain(term: Json, one: Json, two: Json) -> bool:
    here = _domain(one, term["topologyKey"])
    return here is not None and here == _domain(two, term["topologyKey"])


def _selects(term: Json, pod: Json, other: Json) -> bool:
    own = pod["metadata"].get("namespace", "")
    namespaces = term.get("namespaces") or (own,)
    there = other["metadata"].get("namespace", "")
    return there in namespaces and selectors.matches(term.get("labelSelector"), other["metadata"].get("labels") or {})


def _required(pod: Json, kind: str) -> Sequence[Json]:
    rules = (pod["spec"].get("affinity") or {}).get(kind) or {}
    return rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()


def _domain(node: Json, key: str) -> str | None:
    labels = node["metadata"].get("labels") or {}
    name = node["metadata"]["name"] if key == "kubernetes.io/hostname" else None
    found = labels.get(key, name)
    return None if found is None else str(found)
