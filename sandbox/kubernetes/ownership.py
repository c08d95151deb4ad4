"""Keeps metadata.managedFields true after writes, and merges server-side apply.

Knows managers and their fields; knows nothing of storage or HTTP.
"""

from dataclasses import dataclass
from typing import Any

from sandbox.kubernetes import fieldsets
from sandbox.kubernetes.fieldsets import Path
from sandbox.kubernetes.shapes import ANY, Shape
from sandbox.kubernetes.statuses import ApiError

Obj = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes: the manager's name, the group version used, the subresource ("" for the object), and now."""

    manager: str
    api_version: str
    subresource: str
    now: str


def _entry_key(entry: Obj) -> tuple[str, str, str, str]:
    return entry["manager"], entry["operation"], entry["apiVersion"], entry.get("subresource", "")


def _owned(entry: Obj) -> set[Path]:
    return fieldsets.from_fields(entry.get("fieldsV1") or {})


def _entry(writer: Writer, operation: str, paths: set[Path]) -> Obj:
    entry = {
        "manager": writer.manager,
        "operation": operation,
        "apiVersion": writer.api_version,
        "time": writer.now,
        "fieldsType": "FieldsV1",
        "fieldsV1": fieldsets.to_fields(paths),
    }
    if writer.subresource:
        entry["subresource"] = writer.subresource
    return entry


def _with_time(entry: Obj, time: str | None) -> Obj:
    rest = {key: value for key, value in entry.items() if key != "time"}
    return {**rest, "time": time} if time else rest


def _sorted(entries: list[Obj]) -> list[Obj]:
    def rank(entry: Obj) -> tuple[str, str, str, str]:
        return entry["operation"], entry.get("time", ""), entry["manager"], entry.get("subresource", "")

    return sorted(entries, key=rank)


def after_update(old: Obj | None, new: Obj, shape: Shape, writer: Writer) -> list[Obj]:
    """The managedFields after a plain write from `old` to `new`.

    An object that has none when it is updated is not tracked until somebody applies.
    """
    if old is not None and not old["metadata"].get("managedFields"):
        return []
    written, removed = fieldsets.changed(_plain(old), _plain(new), shape)
    written = {path for path in written if path not in fieldsets.UNOWNED and path}
    entries: list[Obj] = []
    mine = (writer.manager, "Update", writer.api_version, writer.subresource)
    own: set[Path] = set()
    last: Obj | None = None
    for entry in (old or {}).get("metadata", {}).get("managedFields") or ():
        held = _owned(entry)
        if _entry_key(entry) == mine:
            own, last = held - removed, entry
            continue
        kept = held - removed - written
        if kept == held:
            entries.append(entry)
        elif kept:
            entries.append({**entry, "fieldsV1": fieldsets.to_fields(kept)})
    total = own | written
    if total:
        unchanged = last is not None and total == _owned(last)
        entries.append(last if unchanged and last is not None else _entry(writer, "Update", total))
    return _sorted(entries)


def _plain(obj: Obj | None) -> Obj:
    """The object without managedFields."""
    if obj is None:
        return {}
    return {**obj, "metadata": {k: v for k, v in obj["metadata"].items() if k != "managedFields"}}


def merge_applied(live: Obj | None, applied: Obj, shape: Shape, writer: Writer, *, force: bool) -> Obj:
    """The object after a server-side apply, managedFields included.

    Raises ApiError 409 when another manager owns a changed field and `force` is not given.
    """
    config = {key: value for key, value in applied.items() if key not in ("apiVersion", "kind")}
    claimed = {p for p in fieldsets.paths_of(config, shape) if p not in fieldsets.UNOWNED}
    base = _plain(live)
    merged: Obj = _merge(base, applied, shape)
    entries = list((live or {}).get("metadata", {}).get("managedFields") or ())
    if live is not None and not entries:
        entries = _before_first_apply(base, shape, writer)
    mine = (writer.manager, "Apply", writer.api_version, writer.subresource)
    before = next((entry for entry in entries if _entry_key(entry) == mine), None)
    others = [entry for entry in entries if entry is not before]
    written, _ = fieldsets.changed(base, _plain(merged), shape)
    others = _settled(others, written, force=force)
    if before is not None:
        kept = claimed.union(*(_owned(entry) for entry in others))
        for path in sorted(_left(_owned(before), shape) - kept, key=len):  # an item goes while it still has its name
            _drop(merged, path, shape, kept)
    mine_now = _entry(writer, "Apply", claimed)
    if live is not None and merged == base:  # nothing but ownership changed: its time is not moved
        mine_now = _with_time(mine_now, before.get("time") if before else None)
    merged["metadata"]["managedFields"] = _sorted([*others, mine_now] if claimed else others)
    return merged


def _before_first_apply(base: Obj, shape: Shape, writer: Writer) -> list[Obj]:
    """All that an untracked object holds belongs to nobody known when somebody applies for the first time."""
    held, _ = fieldsets.changed({}, base, shape)
    paths = {path for path in held if path not in fieldsets.UNOWNED and path}
    nobody = Writer("before-first-apply", writer.api_version, "", writer.now)
    return [_entry(nobody, "Update", paths)] if paths else []


def _settled(others: list[Obj], written: set[Path], *, force: bool) -> list[Obj]:
    """Other managers' entries after the conflicts over `written` are settled."""
    contested = [(entry, _owned(entry) & written) for entry in others]
    if not force and any(paths for _, paths in contested):
        raise _conflict([(entry, paths) for entry, paths in contested if paths])
    kept = []
    for entry, paths in contested:
        rest = _owned(entry) - paths
        if not paths:
            kept.append(entry)
        elif rest:
            kept.append({**entry, "fieldsV1": fieldsets.to_fields(rest)})
    return kept


def _leaves_first(path: Path) -> tuple[tuple[bool, str], ...]:
    """Sort key: on each level fields that end there come before those that go on."""
    return tuple((number < len(path), element) for number, element in enumerate(path, 1))


def _conflict(contested: list[tuple[Obj, set[Path]]]) -> ApiError:
    rows = []
    for entry, paths in contested:
        who = f'"{entry["manager"]}"'
        if entry.get("subresource"):
            who += f' with subresource "{entry["subresource"]}"'
        if entry["operation"] == "Update":
            who += f" using {entry['apiVersion']}"
        rows += [(who, fieldsets.shown(path)) for path in sorted(paths, key=_leaves_first)]
    causes = [{"reason": "FieldManagerConflict", "message": f"conflict with {who}", "field": at} for who, at in rows]
    if len(rows) == 1:
        text = f"Apply failed with 1 conflict: conflict with {rows[0][0]}: {rows[0][1]}"
    else:
        parts = [
            f"conflicts with {who}:\n" + "\n".join(f"- {at}" for other, at in rows if other == who)
            for who in sorted({who for who, _ in rows})
        ]
        text = f"Apply failed with {len(rows)} conflicts: " + "\n".join(parts)
    return ApiError(409, "Conflict", text, {"causes": sorted(causes, key=lambda c: c["field"])})


def _merge(live: Any, applied: Any, shape: Shape) -> Any:
    if applied is None and shape.kind in ("map", "struct", "list") and not shape.atomic:
        return live  # claimed, but nothing is said about what is in it
    if isinstance(applied, dict) and not (shape.atomic and shape.type):
        if shape.atomic:
            return applied
        merged = dict(live) if isinstance(live, dict) else {}
        for key, value in applied.items():
            merged[key] = _merge(merged.get(key), value, shape.child(key))
        return merged
    if isinstance(applied, list) and shape.kind == "list" and not shape.atomic:
        element = shape.element
        assert element is not None
        old, new = fieldsets.keyed(live, shape), fieldsets.keyed(applied, shape)
        joined = {mark: _merge(old.get(mark), item, element) for mark, item in new.items()}
        return [joined.get(mark, old.get(mark)) for mark in _order(list(old), list(new))]
    return applied


def _order(old: list[str], new: list[str]) -> list[str]:
    """The applied order, with items that only the stored list has left where they were."""
    order: list[str] = []
    while old or new:
        if old and old[0] in order:
            old = old[1:]
        elif old and old[0] not in new:
            order, old = [*order, old[0]], old[1:]
        elif new:
            order, new = [*order, new[0]], new[1:]
        else:
            break
    return order


def _left(last: set[Path], shape: Shape) -> set[Path]:
    """What an applier may take away: what it owned, and the named fields around it."""
    found = set(last)
    for path in last:
        node = shape
        for number, element in enumerate(path[:-1], 1):
            named = element.startswith("f:") and element[2:] in node.fields
            if named and path[:number] != ("f:metadata",):
                found.add(path[:number])
            node = node.child(element[2:]) if element.startswith("f:") else node.element or ANY
    return found


def _drop(obj: Any, path: Path, shape: Shape, kept: set[Path]) -> None:
    """Remove the value at `path`, unless somebody owns something below it."""
    if any(other[: len(path)] == path for other in kept):
        return
    node: Any = obj
    for element in path[:-1]:
        node, shape = _step(node, element, shape)
        if node is None:
            return
    last = path[-1]
    if last.startswith("f:") and isinstance(node, dict):
        node.pop(last[2:], None)
    elif isinstance(node, list):
        node[:] = [item for item in node if fieldsets.item_element(item, shape) != last]


def _step(node: Any, element: str, shape: Shape) -> tuple[Any, Shape]:
    if element.startswith("f:"):
        value = node.get(element[2:]) if isinstance(node, dict) else None
        return value, shape.child(element[2:])
    assert shape.element is not None
    return fieldsets.keyed(node, shape).get(element), shape.element
