"""JSON values to objects of a shape: wrong types refused, unknown fields dropped and named, zero values left out.

Which fields exist is told by shapes; rules about values (names, ranges) belong to validation.
"""

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sandbox.kubernetes.quantities import canonical
from sandbox.kubernetes.shapes import Shape

QUANTITIES = frozenset(
    {"limits", "requests", "capacity", "allocatable", "hard", "used", "overhead", "allocatedResources", "podFixed",
     "min", "max", "default", "defaultRequest", "maxLimitRequestRatio", "sizeLimit", "divisor"}
)  # fmt: skip
ZERO_LEFT_OUT = frozenset(
    {
        "unschedulable", "hostNetwork", "hostPID", "hostIPC", "stdin", "stdinOnce", "tty", "readOnly", "paused",
        "hostPort", "minReadySeconds", "observedGeneration", "updatedReplicas", "readyReplicas", "nodePort",
        "unavailableReplicas", "updatedNumberScheduled", "numberAvailable", "numberUnavailable", "initialDelaySeconds",
        "active", "succeeded", "failed", "count", "generation", "immutable_", "globalDefault",
    }
)  # fmt: skip
EMPTY_KEPT = frozenset(
    {"message", "image", "imageID", "reportingComponent", "reportingInstance", "storageClassName", "group"}
)
REPLICAS_LEFT_OUT = frozenset({"V1DeploymentStatus", "V1ScaleSpec"})
AVAILABLE_LEFT_OUT = frozenset({"V1DeploymentStatus", "V1ReplicaSetStatus", "V1ReplicationControllerStatus"})
MICROTIMES = frozenset({"renewTime", "acquireTime"})
GO_NAMES = {"integer": "int32", "string": "string", "boolean": "bool", "number": "float64"}
# times that Go writes as null while nobody has set them
NULL_TIMES = {
    "V1NodeCondition": ("lastHeartbeatTime", "lastTransitionTime"),
    "V1PodCondition": ("lastProbeTime", "lastTransitionTime"),
}
ALWAYS_WRITTEN = frozenset({"V1NodeSystemInfo", "V1CustomResourceSubresources"})


@dataclass(slots=True)
class Decoded:
    """A body as an object, with what was odd about it."""

    obj: dict[str, Any]
    unknown: list[str] = field(default_factory=list)
    duplicates: list[str] = field(default_factory=list)

    def strict_faults(self) -> list[str]:
        """What strict field validation refuses, in the server's words."""
        return [f'unknown field "{name}"' for name in self.unknown] + [
            f'duplicate field "{name}"' for name in self.duplicates
        ]


class TypeFaultError(Exception):
    """A value of the wrong JSON type; the text is what Go's decoder says."""


def decode(value: Any, shape: Shape, *, custom: bool, keep: bool = False) -> Decoded:
    """Fit `value` to `shape`; `keep` leaves zero values and nulls in it, as an applied configuration needs.

    Raises TypeFaultError.
    """
    decoded = Decoded({})
    decoded.obj = _fit(value, shape, _Path("", ("", ""), _Mode(custom, keep, decoded.unknown.append)))
    return decoded


@dataclass(frozen=True, slots=True)
class _Mode:
    custom: bool
    keep: bool
    unknown: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class _Path:
    """Where in the body a value stands. `names`: its own field and the one around it."""

    at: str
    names: tuple[str, str]
    mode: _Mode

    def to(self, key: str) -> "_Path":
        return _Path(f"{self.at}.{key}" if self.at else key, (key, self.names[0]), self.mode)

    def item(self, number: int) -> "_Path":
        return _Path(f"{self.at}[{number}]", self.names, self.mode)


def _fit(value: Any, shape: Shape, path: _Path) -> Any:
    match shape.kind:
        case "struct" if isinstance(value, dict):
            return _fit_struct(value, shape, path)
        case "map" if isinstance(value, dict):
            return _fit_map(value, shape, path)
        case "list" if isinstance(value, list):
            element = shape.element
            assert element is not None
            return [_fit(part, element, path.item(number)) for number, part in enumerate(value)]
        case "scalar":
            return _fit_scalar(value, shape, path)
        case "any":
            return value
    if path.mode.custom and shape.schema is not None:
        return value  # the schema's validator names the fault
    raise TypeFaultError(
        f"json: cannot unmarshal {_json_type(value)} into Go struct field {path.at} of type {shape.kind}"
    )


def _fit_map(value: dict[str, Any], shape: Shape, path: _Path) -> dict[str, Any]:
    """Free keys; null among texts is the empty text, as Go decodes it."""
    text = shape.element is not None and shape.element.type == "string" and shape.schema is None
    empty = "" if text and not path.mode.keep else None
    return {
        key: empty if part is None and (text or path.mode.keep) else _fit(part, shape.child(key), path.to(key))
        for key, part in value.items()
    }


def _fit_struct(value: dict[str, Any], shape: Shape, path: _Path) -> dict[str, Any]:
    fitted: dict[str, Any] = {}
    for key, part in value.items():
        known = shape.fields.get(key)
        if known is None:
            if shape.open:
                fitted[key] = part
            else:
                path.mode.unknown(f"{path.at}.{key}" if path.at else key)
            continue
        if part is None and path.mode.keep:
            fitted[key] = None
            continue
        if part is None:
            if path.mode.custom and known.schema is not None and known.schema.get("nullable"):
                fitted[key] = None
            continue
        made = _fit(part, known, path.to(key))
        if (
            path.mode.keep
            or (path.mode.custom and shape.schema is not None)
            or not _left_out(key, made, known, shape.type)
        ):
            fitted[key] = made
    for name in () if path.mode.keep else NULL_TIMES.get(shape.type, ()):
        fitted.setdefault(name, None)
    return fitted


def _left_out(key: str, value: Any, shape: Shape, owner: str) -> bool:
    """Whether Go's encoder leaves this zero value out."""
    if owner in ALWAYS_WRITTEN:
        return False
    if value == "":
        return key not in EMPTY_KEPT and shape.type == "string"
    if value is False or (value == 0 and shape.type == "integer"):
        if key == "replicas":
            return owner in REPLICAS_LEFT_OUT
        if key == "availableReplicas":
            return owner in AVAILABLE_LEFT_OUT
        return key in ZERO_LEFT_OUT
    return (value == [] and key != "rules") or (value == {} and shape.kind == "map")


def _fit_scalar(value: Any, shape: Shape, path: _Path) -> Any:
    if path.mode.custom and shape.schema is not None:
        return value
    fits = {
        "string": isinstance(value, str),
        "time": isinstance(value, str),
        "integer": isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63,
        "number": isinstance(value, int | float) and not isinstance(value, bool),
        "boolean": isinstance(value, bool),
    }.get(shape.type, True)
    quantity = not QUANTITIES.isdisjoint(path.names) and shape.type == "string"
    if quantity and (fits or (isinstance(value, int | float) and not isinstance(value, bool))):
        return value if path.mode.keep else canonical(str(value))
    if not fits:
        where = re.sub(r"^.*?metadata\.(labels|annotations)\..*$", r"ObjectMeta.metadata.\1", path.at)
        raise TypeFaultError(
            f"json: cannot unmarshal {_json_type(value)} into Go struct field {where} "
            f"of type {GO_NAMES.get(shape.type, shape.type)}"
        )
    if shape.type == "time" and path.names[0] in MICROTIMES and not re.search(r"\.\d{6}(Z|[+-]\d\d:\d\d)$", value):
        raise TypeFaultError(
            f'parsing time "{value}" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "{value[19:]}" as ".000000"'
        )
    return value


def _json_type(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def check_base64(data: dict[str, Any]) -> None:
    """Refuse Secret data that is not base64. Raises TypeFaultError."""
    for text in data.values():
        try:
            base64.b64decode(text, validate=True)
        except (binascii.Error, TypeError, ValueError) as error:
            bad = re.search(r"[^A-Za-z0-9+/=]", str(text))
            raise TypeFaultError(
                f"illegal base64 data at input byte {bad.start() if bad else len(str(text))}"
            ) from error
