"""Label selectors and node selector terms, as the API defines them. Pure."""

from collections.abc import Mapping

from sandbox.kubernetes_client import Json

Labels = Mapping[str, str]


def matches(selector: Json | None, labels: Labels) -> bool:
    """Whether a LabelSelector selects these labels. A missing selector selects nothing, an empty one everything."""
    if selector is None:
        return False
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_holds(rule, labels) for rule in selector.get("matchExpressions") or ())


def node_term_matches(term: Json, node: Json) -> bool:
    """Whether a NodeSelectorTerm selects the node; a term without any rule selects no node."""
    rules, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not rules and not fields:
        return False
    labels = node["metadata"].get("labels") or {}
    named = {"metadata.name": node["metadata"]["name"]}
    return all(_holds(rule, labels) for rule in rules) and all(_holds(rule, named) for rule in fields)


def required_node_terms(pod_spec: Json) -> tuple[Json, ...] | None:
    """The terms of the required node affinity; None when there is none."""
    affinity = (pod_spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return None if required is None else tuple(required.get("nodeSelectorTerms") or ())


def node_wanted(pod_spec: Json, node: Json) -> bool:
    """Whether nodeSelector and required node affinity let the pod onto the node."""
    labels = node["metadata"].get("labels") or {}
    if any(labels.get(key) != value for key, value in (pod_spec.get("nodeSelector") or {}).items()):
        return False
    terms = required_node_terms(pod_spec)
    return terms is None or any(node_term_matches(term, node) for term in terms)


def preference(pod_spec: Json, node: Json) -> int:
    """Sum of the weights of the preferred node affinity terms that the node meets."""
    affinity = (pod_spec.get("affinity") or {}).get("nodeAffinity") or {}
    rows = affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    return sum(int(row.get("weight", 0)) for row in rows if node_term_matches(row.get("preference") or {}, node))


def tolerates(tolerations: tuple[Json, ...], taint: Json) -> Json | None:
    """The first toleration that lets a pod live with the taint; None when there is none."""
    return next((one for one in tolerations if _tolerates(one, taint)), None)


def _tolerates(toleration: Json, taint: Json) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and toleration.get("value", "") == taint.get("value", "")


def _holds(rule: Json, labels: Labels) -> bool:
    key, values = rule["key"], rule.get("values") or ()
    match rule.get("operator"):
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":  # codespell:ignore
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case "Gt" | "Lt":
            return _compares(rule, labels)
    return False


def _compares(rule: Json, labels: Labels) -> bool:
    try:
        have, wanted = int(labels[rule["key"]]), int(rule["values"][0])
    except (KeyError, ValueError, IndexError):
        return False
    return have > wanted if rule["operator"] == "Gt" else have < wanted
