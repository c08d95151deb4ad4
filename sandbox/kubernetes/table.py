"""Tables: what kubectl get prints. Columns per kind; custom resources bring their own."""

import re
from datetime import UTC, datetime
from typing import Any

from sandbox.kubernetes.columns import COLUMNS, Column
from sandbox.kubernetes.resources import Resource

Obj = dict[str, Any]

NAME = Column("Name", lambda obj: obj["metadata"]["name"], kind="name")


def age(stamp: str | None) -> str:
    """Time since `stamp` in kubectl's short form: 5s, 3m20s, 2h, 4d."""
    if not stamp:
        return "<unknown>"
    seconds = int((datetime.now(UTC) - datetime.fromisoformat(stamp)).total_seconds())
    seconds = max(seconds, 0)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return f"{minutes}m{seconds % 60}s" if seconds % 60 else f"{minutes}m"
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    return f"{days}d{hours % 24}h" if days < 8 and hours % 24 else f"{days}d"


AGE = Column("Age", lambda obj: age(obj["metadata"].get("creationTimestamp")))


def columns(resource: Resource) -> tuple[Column, ...]:
    """The columns of a resource."""
    if resource.custom:
        own = tuple(_custom(row) for row in resource.columns)
        return (NAME, *own) if own else (NAME, AGE)
    if resource.kind == "Event":
        return COLUMNS["Event"]
    return tuple(AGE if column is None else column for column in (NAME, *COLUMNS.get(resource.kind, (None,))))


def _custom(row: Obj) -> Column:
    path = row["jsonPath"]

    def read(obj: Obj) -> Any:
        value = look(obj, path)
        return age(value) if row["type"] == "date" and isinstance(value, str) else value

    return Column(row["name"], read, kind=row.get("format", ""), priority=row.get("priority", 0), type=row["type"])


STEP = re.compile(r"\.?([^.\[\]]+)|\[\?\(@\.([\w.-]+)\s*==\s*['\"]([^'\"]*)['\"]\)\]|\[(\d+|\*|'[^']+')\]")


def look(obj: Any, path: str) -> Any:
    """The first value at a simple JSONPath: fields, [0], [*], ['key'] and [?(@.type=="Ready")]; None where there is none."""
    found = [obj]
    for name, field, wanted, index in STEP.findall(path.replace("\\.", "\x00")):
        if name:
            key = name.replace("\x00", ".")
            found = [value[key] for value in found if isinstance(value, dict) and key in value]
        elif field:
            rows = [row for value in found if isinstance(value, list) for row in value]
            found = [row for row in rows if isinstance(row, dict) and str(row.get(field)) == wanted]
        elif index == "*":
            found = [row for value in found if isinstance(value, list) for row in value]
        elif index.isdigit():
            found = [v[int(index)] for v in found if isinstance(v, list) and int(index) < len(v)]
        else:
            found = [v[index[1:-1]] for v in found if isinstance(v, dict) and index[1:-1] in v]
    return found[0] if found else None


def table(items: list[Obj], resource: Resource, meta: Obj, *, head: bool = True, include: str = "Metadata") -> Obj:
    """A Table of `items`; `include`: what each row carries (Metadata, Object or None)."""
    chosen = columns(resource)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": meta,
        "columnDefinitions": [column.definition() for column in chosen] if head else None,
        "rows": [_row(item, chosen, include) for item in items],
    }


def _row(item: Obj, chosen: tuple[Column, ...], include: str) -> Obj:
    row: Obj = {"cells": [column.read(item) for column in chosen]}
    if include == "Object":
        row["object"] = item
    elif include != "None":
        row["object"] = partial(item)
    return row


def partial(obj: Obj) -> Obj:
    """The object reduced to its metadata."""
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}
