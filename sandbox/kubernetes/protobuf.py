"""Reads bodies in Kubernetes' protobuf envelope, for the few kinds that kubectl and helm send so.

Only requests: answers are JSON, which every client takes. Field numbers are those of upstream's generated.proto files;
a kind that is not listed here is refused with 415, as by a server without protobuf.
"""

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

Obj = dict[str, Any]

MEDIA = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"

# message -> number -> (field, type). "[T]" repeated, "{T}" a map from strings; other words are messages.
MESSAGES: dict[str, dict[int, tuple[str, str]]] = {
    "ObjectMeta": {
        1: ("name", "string"), 2: ("generateName", "string"), 3: ("namespace", "string"), 5: ("uid", "string"),
        6: ("resourceVersion", "string"), 7: ("generation", "int"), 8: ("creationTimestamp", "time"),
        9: ("deletionTimestamp", "time"), 10: ("deletionGracePeriodSeconds", "int"), 11: ("labels", "{string}"),
        12: ("annotations", "{string}"), 13: ("ownerReferences", "[OwnerReference]"), 14: ("finalizers", "[string]"),
        17: ("managedFields", "[ManagedFields]"),
    },
    "ManagedFields": {1: ("manager", "string")},
    "OwnerReference": {
        1: ("kind", "string"), 3: ("name", "string"), 4: ("uid", "string"), 5: ("apiVersion", "string"),
        6: ("controller", "bool"), 7: ("blockOwnerDeletion", "bool"),
    },
    "DeleteOptions": {
        1: ("gracePeriodSeconds", "int"), 2: ("preconditions", "Preconditions"), 3: ("orphanDependents", "bool"),
        4: ("propagationPolicy", "string"), 5: ("dryRun", "[string]"),
    },
    "Preconditions": {1: ("uid", "string"), 2: ("resourceVersion", "string")},
    "Namespace": {1: ("metadata", "ObjectMeta"), 2: ("spec", "NamespaceSpec"), 3: ("status", "NamespaceStatus")},
    "NamespaceSpec": {1: ("finalizers", "[string]")},
    "NamespaceStatus": {1: ("phase", "string")},
    "Secret": {
        1: ("metadata", "ObjectMeta"), 2: ("data", "{bytes}"), 3: ("type", "string"), 4: ("stringData", "{string}"),
        5: ("immutable", "bool"),
    },
    "ConfigMap": {
        1: ("metadata", "ObjectMeta"), 2: ("data", "{string}"), 3: ("binaryData", "{bytes}"), 4: ("immutable", "bool"),
    },
    "ServiceAccount": {1: ("metadata", "ObjectMeta"), 4: ("automountServiceAccountToken", "bool")},
    "Eviction": {1: ("metadata", "ObjectMeta"), 2: ("deleteOptions", "DeleteOptions")},
    "Lease": {1: ("metadata", "ObjectMeta"), 2: ("spec", "LeaseSpec")},
    "LeaseSpec": {
        1: ("holderIdentity", "string"), 2: ("leaseDurationSeconds", "int"), 3: ("acquireTime", "microtime"),
        4: ("renewTime", "microtime"), 5: ("leaseTransitions", "int"),
    },
    "PodDisruptionBudget": {1: ("metadata", "ObjectMeta"), 2: ("spec", "PodDisruptionBudgetSpec")},
    "PodDisruptionBudgetSpec": {
        1: ("minAvailable", "intstr"), 2: ("selector", "LabelSelector"), 3: ("maxUnavailable", "intstr"),
        4: ("unhealthyPodEvictionPolicy", "string"),
    },
    "LabelSelector": {1: ("matchLabels", "{string}"), 2: ("matchExpressions", "[Requirement]")},
    "Requirement": {1: ("key", "string"), 2: ("operator", "string"), 3: ("values", "[string]")},
    "Role": {1: ("metadata", "ObjectMeta"), 2: ("rules", "[PolicyRule]")},
    "ClusterRole": {1: ("metadata", "ObjectMeta"), 2: ("rules", "[PolicyRule]")},
    "PolicyRule": {
        1: ("verbs", "[string]"), 2: ("apiGroups", "[string]"), 3: ("resources", "[string]"),
        4: ("resourceNames", "[string]"), 5: ("nonResourceURLs", "[string]"),
    },
    "RoleBinding": {1: ("metadata", "ObjectMeta"), 2: ("subjects", "[Subject]"), 3: ("roleRef", "RoleRef")},
    "ClusterRoleBinding": {1: ("metadata", "ObjectMeta"), 2: ("subjects", "[Subject]"), 3: ("roleRef", "RoleRef")},
    "Subject": {1: ("kind", "string"), 2: ("apiGroup", "string"), 3: ("name", "string"), 4: ("namespace", "string")},
    "RoleRef": {1: ("apiGroup", "string"), 2: ("kind", "string"), 3: ("name", "string")},
    "SelfSubjectReview": {1: ("metadata", "ObjectMeta")},
    "SelfSubjectRulesReview": {1: ("metadata", "ObjectMeta"), 2: ("spec", "RulesSpec")},
    "RulesSpec": {1: ("namespace", "string")},
    "SelfSubjectAccessReview": {1: ("metadata", "ObjectMeta"), 2: ("spec", "AccessSpec")},
    "AccessSpec": {1: ("resourceAttributes", "Resource"), 2: ("nonResourceAttributes", "NonResource")},
    "Resource": {
        1: ("namespace", "string"), 2: ("verb", "string"), 3: ("group", "string"), 4: ("version", "string"),
        5: ("resource", "string"), 6: ("subresource", "string"), 7: ("name", "string"),
    },
    "TokenRequest": {1: ("metadata", "ObjectMeta"), 2: ("spec", "TokenRequestSpec")},
    "TokenRequestSpec": {1: ("audiences", "[string]"), 4: ("expirationSeconds", "int")},
    "NonResource": {1: ("path", "string"), 2: ("verb", "string")},
}  # fmt: skip


class UnreadableError(Exception):
    """The body is no envelope, or of a kind that is not listed."""


def read(body: bytes) -> Obj:
    """The object in an envelope, as its JSON would be. Raises UnreadableError."""
    if not body.startswith(MAGIC):
        raise UnreadableError("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    try:
        outer = dict(_fields(body[len(MAGIC) :]))
        kinds = dict(_fields(_bytes(outer.get(1, b""))))
        kind = _bytes(kinds.get(2, b"")).decode()
        if kind not in MESSAGES:
            raise UnreadableError(f"protobuf bodies of kind {kind} are not read here")
        found = _message(_bytes(outer.get(2, b"")), kind)
    except (IndexError, UnicodeDecodeError, ValueError) as error:
        raise UnreadableError(str(error)) from error
    return {"kind": kind, "apiVersion": _bytes(kinds.get(1, b"")).decode(), **found}


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise UnreadableError("a number where bytes were expected")
    return value


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Numbers and values of one message: varints as int, everything else as bytes."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        wire = tag & 7
        if wire == 0:
            value, position = _varint(data, position)
            yield tag >> 3, value
            continue
        if wire == 2:
            size, position = _varint(data, position)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise UnreadableError(f"wire type {wire}")
        yield tag >> 3, data[position : position + size]
        position += size


def _varint(data: bytes, position: int) -> tuple[int, int]:
    result, shift = 0, 0
    while True:
        byte = data[position]
        result |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return result, position


def _message(data: bytes, name: str) -> Obj:
    found: Obj = {}
    for number, value in _fields(data):
        field, kind = MESSAGES[name].get(number, ("", ""))
        if not field:
            continue
        if kind.startswith("["):
            found.setdefault(field, []).append(_value(value, kind[1:-1]))
        elif kind.startswith("{"):
            entry = dict(_fields(_bytes(value)))
            key = _bytes(entry.get(1, b"")).decode()
            found.setdefault(field, {})[key] = _value(entry.get(2, b""), kind[1:-1])
        else:
            found[field] = _value(value, kind)
    return found


def _value(value: int | bytes, kind: str) -> Any:
    match kind:
        case "int" if isinstance(value, int):
            return value - (1 << 64) if value >> 63 else value
        case "bool":
            return bool(value)
        case "string":
            return _bytes(value).decode()
        case "bytes":
            return base64.b64encode(_bytes(value)).decode()
        case "time" | "microtime":
            return _time(_bytes(value), micro=kind == "microtime")
        case "intstr":
            parts = dict(_fields(_bytes(value)))
            return _bytes(parts.get(3, b"")).decode() if parts.get(1) else parts.get(2, 0)
        case _:
            return _message(_bytes(value), kind)


def _time(data: bytes, *, micro: bool) -> str | None:
    parts = dict(_fields(data))
    seconds, nanos = parts.get(1), parts.get(2, 0)
    if not isinstance(seconds, int) or not isinstance(nanos, int):
        return None
    moment = datetime.fromtimestamp(seconds, UTC)
    ending = f".{nanos // 1000:06d}Z" if micro else "Z"
    return moment.strftime("%Y-%m-%dT%H:%M:%S") + ending


def as_json(body: bytes) -> bytes:
    """The JSON of an envelope. Raises UnreadableError."""
    return json.dumps(read(body)).encode()
