"""Label and field selectors: text to requirements, and the real server's words for texts that are none."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.kubernetes.statuses import ApiError, bad_request

TOKEN = re.compile(r"\s*(==|!=|[=!(),<>]|[^=!(),<>\s]+)")
OPERATORS = frozenset({"=", "==", "!=", "in", "notin", "<", ">"})
MARKS = frozenset("=!(),<>") | {"==", "!="}


@dataclass(frozen=True, slots=True)
class Requirement:
    """One term of a label selector. `operator`: in, notin, exists, missing, gt, lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case "in":
                return value in self.values
            case "notin":
                return value not in self.values
            case "exists":
                return value is not None
            case "missing":
                return value is None
            case _:
                return _compared(self.operator, value, int(self.values[0]))


def _compared(operator: str, value: str | None, bound: int) -> bool:
    try:
        number = int(value or "")
    except ValueError:
        return False
    return number > bound if operator == "gt" else number < bound


def parse_labels(text: str) -> tuple[Requirement, ...]:
    """Requirements of a labelSelector parameter; all have to hold. Raises ApiError 400."""
    tokens = [match[1] for match in TOKEN.finditer(text.strip())]
    found: list[Requirement] = []
    while tokens:
        requirement, tokens = _one(tokens)
        found.append(requirement)
        if tokens and tokens[0] != ",":
            raise bad_request(f"found '{tokens[0]}', expected: ',' or 'end of string'")
        tokens = tokens[1:]
        if not tokens and text.rstrip().endswith(","):
            raise bad_request("found '', expected: identifier after ','")
    return tuple(found)


def _one(tokens: list[str]) -> tuple[Requirement, list[str]]:
    first = tokens[0]
    if first == "!":
        if len(tokens) < 2 or tokens[1] in MARKS:
            raise bad_request("unable to parse requirement: found '', expected: identifier")
        return Requirement(tokens[1], "missing"), tokens[2:]
    if first in MARKS:
        raise bad_request(f"found '{first}', expected: !, identifier, or 'end of string'")
    if len(tokens) == 1 or tokens[1] == ",":
        return Requirement(first, "exists"), tokens[1:]
    operator, rest = tokens[1], tokens[2:]
    if operator not in OPERATORS:
        expected = "in, notin, =, ==, !=, gt, lt"
        raise bad_request(f"unable to parse requirement: found '{operator}', expected: {expected}")
    if operator in ("in", "notin"):
        values, rest = _set(rest)
        return Requirement(first, operator, values), rest
    value = "" if not rest or rest[0] == "," else rest.pop(0)
    if value in MARKS:
        raise bad_request(f"unable to parse requirement: found '{value}', expected: identifier")
    if operator in "<>":
        return _numeric(first, operator, value), rest
    return Requirement(first, "notin" if operator == "!=" else "in", (value,)), rest


def _numeric(key: str, operator: str, value: str) -> Requirement:
    if not re.fullmatch(r"[-+]?\d+", value):
        text = f"values[0]: Invalid value: \"{value}\": for 'Gt', 'Lt' operators, the value must be an integer"
        raise bad_request(f"unable to parse requirement: {text}")
    return Requirement(key, "gt" if operator == ">" else "lt", (value,))


def _set(tokens: list[str]) -> tuple[tuple[str, ...], list[str]]:
    if not tokens or tokens[0] != "(":
        raise bad_request(f"unable to parse requirement: found '{tokens[0] if tokens else ''}' expected: '('")
    if ")" not in tokens:
        raise bad_request("unable to parse requirement: found '', expected: ',', or ')'")
    end = tokens.index(")")
    values, expect_value = [], True
    for token in tokens[1:end]:
        if token == ",":
            if expect_value:
                values.append("")
            expect_value = True
        else:
            values.append(token)
            expect_value = False
    return tuple(values), tokens[end + 1 :]


def label_selector_matches(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Whether a LabelSelector object (matchLabels, matchExpressions) selects; absent selects nothing."""
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    words = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "missing"}
    for row in selector.get("matchExpressions") or ():
        if not Requirement(row["key"], words[row["operator"]], tuple(row.get("values") or ())).matches(labels):
            return False
    return True


def selector_text(selector: Mapping[str, Any]) -> str:
    """A LabelSelector's matchLabels in the syntax of a labelSelector parameter."""
    return ",".join(f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items()))


# ------------------------------------------------------------------ fields

INVOLVED = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
EVENT_FIELDS = (*(f"involvedObject.{name}" for name in INVOLVED), "reason", "reportingComponent", "source", "type")
FIELDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("", "pods"): (
        *("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork"),
        *("status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName"),
    ),
    ("", "nodes"): ("spec.unschedulable",),
    ("", "events"): EVENT_FIELDS,
    ("", "secrets"): ("type",),
    ("", "namespaces"): ("status.phase",),
    ("", "services"): ("spec.clusterIP", "spec.type"),
    ("", "replicationcontrollers"): ("status.replicas",),
    ("apps", "replicasets"): ("status.replicas",),
    ("batch", "jobs"): ("status.successful",),
}
META_FIELDS = ("metadata.name", "metadata.namespace")
DEFAULTS = {
    "spec.unschedulable": "false",
    "spec.hostNetwork": "false",
    "status.successful": "0",
    "status.replicas": "0",
}


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """One term of a field selector."""

    path: tuple[str, ...]
    value: str
    negated: bool

    def matches(self, obj: Mapping[str, Any]) -> bool:
        return (_field(obj, self.path) == self.value) is not self.negated


def _field(obj: Mapping[str, Any], path: tuple[str, ...]) -> str:
    name = ".".join(path)
    if name == "source":
        return str((obj.get("source") or {}).get("component") or obj.get("reportingComponent") or "")
    value: Any = obj
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    if value is None:
        return DEFAULTS.get(name, "")
    return str(value).lower() if isinstance(value, bool) else str(value)


def parse_fields(
    text: str, key: tuple[str, str], selectable: tuple[str, ...], *, custom: bool
) -> tuple[FieldTerm, ...]:
    """Terms of a fieldSelector parameter. Raises ApiError 400 for fields the resource does not offer."""
    found = []
    for term in (part for part in text.split(",") if part):
        match = re.fullmatch(r"\s*([^=!]*?)(==|!=|=)(.*)", term)
        if match is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{term}'")
        name, operator, value = match[1], match[2], match[3]
        if name not in META_FIELDS and name not in FIELDS.get(key, ()) and name not in selectable:
            raise _unknown_field(name, key, custom=custom)
        found.append(FieldTerm(tuple(name.split(".")), value, operator == "!="))
    return tuple(found)


def _unknown_field(name: str, key: tuple[str, str], *, custom: bool) -> ApiError:
    if custom or key in FIELDS:
        return bad_request(f"field label not supported: {name}")
    return bad_request(f'"{name}" is not a known field selector: only "metadata.name", "metadata.namespace"')


@dataclass(frozen=True, slots=True)
class Selection:
    """Which objects a list or watch is about."""

    namespace: str = ""
    labels: tuple[Requirement, ...] = ()
    fields: tuple[FieldTerm, ...] = ()

    @property
    def narrow(self) -> bool:
        """Whether a selector was given."""
        return bool(self.labels or self.fields)

    def matches(self, obj: Mapping[str, Any]) -> bool:
        """Whether labels and fields fit (the namespace is the caller's matter)."""
        labels = obj["metadata"].get("labels") or {}
        return all(r.matches(labels) for r in self.labels) and all(t.matches(obj) for t in self.fields)
