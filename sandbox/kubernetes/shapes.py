"""What objects look like: fields, lists with keys, atomic parts; the same for built-in kinds and custom resources.

Decoding, merging, ownership of fields and strategic patches all walk objects along these shapes. Field names and types
come from data/schemas.json; which lists have keys and which parts are atomic stands here, as upstream's API types
declare it.
"""

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

SCHEMAS = Path(__file__).parent / "data" / "schemas.json"

# (type, field) -> keys of the list's items; "" as type: in every type
LIST_KEYS: dict[tuple[str, str], tuple[str, ...]] = {
    ("V1PodSpec", "containers"): ("name",),
    ("V1PodSpec", "initContainers"): ("name",),
    ("V1PodSpec", "ephemeralContainers"): ("name",),
    ("V1PodSpec", "volumes"): ("name",),
    ("V1PodSpec", "imagePullSecrets"): ("name",),
    ("V1PodSpec", "hostAliases"): ("ip",),
    ("V1PodSpec", "topologySpreadConstraints"): ("topologyKey", "whenUnsatisfiable"),
    ("V1PodSpec", "schedulingGates"): ("name",),
    ("V1PodSpec", "resourceClaims"): ("name",),
    ("", "env"): ("name",),
    ("V1Container", "ports"): ("containerPort", "protocol"),
    ("", "volumeMounts"): ("mountPath",),
    ("", "volumeDevices"): ("devicePath",),
    ("V1ServiceSpec", "ports"): ("port", "protocol"),
    ("V1ServiceAccount", "secrets"): ("name",),
    ("", "conditions"): ("type",),
    ("V1NodeStatus", "addresses"): ("type",),
    ("V1ObjectMeta", "ownerReferences"): ("uid",),
    ("", "webhooks"): ("name",),
    ("V1PodStatus", "podIPs"): ("ip",),
}
KEY_DEFAULTS = {"protocol": "TCP"}
SETS = frozenset({("V1ObjectMeta", "finalizers"), ("V1NodeSpec", "podCIDRs")})
ATOMIC_TYPES = frozenset(
    {
        "V1LabelSelector", "V1NodeSelector", "V1NodeSelectorTerm", "V1ObjectReference", "V1SecretKeySelector",
        "V1ConfigMapKeySelector", "V1ObjectFieldSelector", "V1ResourceFieldSelector", "V1LocalObjectReference",
        "V1RoleRef", "V1TypedLocalObjectReference", "V1ScopeSelector", "RbacV1Subject", "V1SecretReference",
    }
)  # fmt: skip
ATOMIC_MAPS = frozenset({("V1PodSpec", "nodeSelector"), ("V1ServiceSpec", "selector")})
CONDITIONS_OF_CONTAINERS = frozenset({"V1JobStatus"})  # their conditions are an atomic list


@dataclass(frozen=True, slots=True)
class Shape:
    """One node of a type.

    Attributes:
        kind: struct (named fields), map (free keys), list, scalar, or any (nothing is known about it).
        type: string, integer, boolean, number, time for scalars; the type's name for structs.
        fields: shapes of a struct's fields.
        element: shape of a map's values or a list's items.
        atomic: owned and replaced as a whole.
        keys: for lists with identity, the fields that identify an item.
        is_set: a list of scalars without order or repetition.
        schema: for custom resources, the JSON schema of this node.
        open: a struct that may hold fields nobody declared.
    """

    kind: str
    type: str = ""
    fields: dict[str, "Shape"] = field(default_factory=dict)
    element: "Shape | None" = None
    atomic: bool = False
    keys: tuple[str, ...] = ()
    is_set: bool = False
    schema: dict[str, Any] | None = None
    open: bool = False

    def child(self, key: str) -> "Shape":
        """Shape of the value under `key` of a struct or map."""
        found = self.fields.get(key)
        if found is not None:
            return found
        return self.element if self.element is not None else ANY


ANY = Shape("any")


@cache
def _types() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(SCHEMAS.read_text(encoding="utf-8"))
    return loaded


@cache
def builtin_shape(kind: str) -> Shape:
    """Shape of `group/version/Kind` (core: `v1/Kind`); ANY where the data lack it."""
    name = _types()["kinds"].get(kind)
    return _struct(name) if name else ANY


_structs: dict[str, Shape] = {}


def _struct(name: str) -> Shape:
    """Shape of a named type. Types that contain themselves share one node."""
    found = _structs.get(name)
    if found is None:
        found = _structs[name] = Shape("struct", name, atomic=name in ATOMIC_TYPES)
        for field_name, spelled in _types()["types"][name].items():
            found.fields[field_name] = _shape(spelled, name, field_name)
    return found


def _shape(spelled: str, owner: str, name: str) -> Shape:
    if spelled.startswith("["):
        element = _shape(spelled[1:-1], owner, "")
        keys = LIST_KEYS.get((owner, name)) or LIST_KEYS.get(("", name)) or ()
        if owner in CONDITIONS_OF_CONTAINERS or (keys and element.kind != "struct"):
            keys = ()
        is_set = (owner, name) in SETS
        return Shape("list", element=element, keys=keys, is_set=is_set, atomic=not keys and not is_set)
    if spelled.startswith("{"):
        if name == "fieldsV1":
            return ANY
        return Shape("map", element=_shape(spelled[1:-1], owner, ""), atomic=(owner, name) in ATOMIC_MAPS)
    if spelled == "any":
        return ANY
    if spelled in ("string", "integer", "boolean", "number", "time"):
        return Shape("scalar", spelled)
    return _struct(spelled)


META = _struct("V1ObjectMeta")
DELETE_OPTIONS = _struct("V1DeleteOptions")


def custom_shape(schema: dict[str, Any]) -> Shape:
    """Shape of a custom resource, from the openAPIV3Schema of its version."""
    root = _from_schema(schema)
    named = {"apiVersion": Shape("scalar", "string"), "kind": Shape("scalar", "string"), "metadata": META}
    return Shape("struct", fields={**root.fields, **named}, schema=schema, open=root.open or root.kind == "any")


def _from_schema(schema: dict[str, Any]) -> Shape:
    if schema.get("x-kubernetes-int-or-string"):
        return Shape("scalar", "int-or-string", schema=schema)
    kind, preserve = schema.get("type"), bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    match kind:
        case "object":
            return _object_shape(schema, preserve=preserve)
        case "array":
            items = schema.get("items")
            listed, element = schema.get("x-kubernetes-list-type"), _from_schema(items) if items else ANY
            keys = tuple(schema.get("x-kubernetes-list-map-keys", ())) if listed == "map" else ()
            is_set = listed == "set"
            return Shape(
                "list", element=element, keys=keys, is_set=is_set, atomic=not keys and not is_set, schema=schema
            )
        case None:
            return Shape("any", schema=schema)
        case _:
            return Shape("scalar", str(kind), schema=schema)


def _object_shape(schema: dict[str, Any], *, preserve: bool) -> Shape:
    atomic = schema.get("x-kubernetes-map-type") == "atomic"
    more = schema.get("additionalProperties")
    if schema.get("x-kubernetes-embedded-resource"):
        preserve = True
    if isinstance(more, dict):
        return Shape("map", element=_from_schema(more), atomic=atomic, schema=schema)
    fields = {name: _from_schema(part) for name, part in schema.get("properties", {}).items()}
    return Shape("struct", fields=fields, atomic=atomic, schema=schema, open=preserve or more is True)
