"""Write data/schemas.json: field names and types of the built-in kinds, read from the installed client library.

Run once per client release: `python -m sandbox.kubernetes.record_schemas`. The server itself reads only the data.
"""

import datetime as dt
import json
import types
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from kubernetes.client import models

TARGET = Path(__file__).parent / "data" / "schemas.json"
RENAMED = {"v1/Event": "CoreV1Event", "events.k8s.io/v1/Event": "EventsV1Event"}
VERSIONS = {"autoscaling/v2/HorizontalPodAutoscaler": "V2HorizontalPodAutoscaler"}
PLAIN = {str: "string", int: "integer", bool: "boolean", float: "number", dt.datetime: "time"}


def main() -> None:
    """Collect every type that is reachable from a served kind."""
    resources = json.loads((TARGET.parent / "resources.json").read_text(encoding="utf-8"))
    kinds: dict[str, str] = {}
    found: dict[str, dict[str, str]] = {}
    for group_version, rows in resources.items():
        for row in rows:
            group, version = row.get("group"), row.get("version")
            key = f"{group + '/' + version if group else group_version}/{row['kind']}"
            name = RENAMED.get(key) or VERSIONS.get(key) or f"V1{row['kind']}"
            if hasattr(models, name):
                kinds[key] = name
                _collect(name, found)
    TARGET.write_text(json.dumps({"kinds": kinds, "types": found}, indent=0, sort_keys=True) + "\n", encoding="utf-8")


def _collect(name: str, found: dict[str, dict[str, str]]) -> None:
    if name in found:
        return
    found[name] = {}
    for field_name, field in getattr(models, name).model_fields.items():
        found[name][field.serialization_alias or field_name] = _spelled(field.annotation, found)


def _spelled(annotation: Any, found: dict[str, dict[str, str]]) -> str:
    """string, integer, boolean, number, time, any, [T], {T} or the name of a type."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        inner = [arg for arg in args if arg is not type(None)]
        return _spelled(inner[0], found) if len(inner) == 1 else "any"
    if origin is list:
        return f"[{_spelled(args[0], found)}]"
    if origin is dict:
        return f"{{{_spelled(args[1], found)}}}"
    if hasattr(annotation, "__metadata__"):
        return _spelled(annotation.__origin__, found)
    if annotation in PLAIN:
        return PLAIN[annotation]
    if isinstance(annotation, type) and hasattr(models, annotation.__name__):
        _collect(annotation.__name__, found)
        return annotation.__name__
    return "any"


if __name__ == "__main__":
    main()
