"""Who owns which field: sets of paths and their spelling in metadata.managedFields (fieldsV1).

A path is a tuple of elements as fieldsV1 writes them: `f:name`, `k:{"name":"a"}`, `v:"x"`.
"""

import json
from collections.abc import Iterable
from typing import Any

from sandbox.kubernetes.shapes import KEY_DEFAULTS, Shape

Path = tuple[str, ...]
Paths = frozenset[Path]

UNOWNED = frozenset(
    {("f:apiVersion",), ("f:kind",), ("f:metadata",)}
    | {
        ("f:metadata", f"f:{name}")
        for name in (
            *("name", "namespace", "creationTimestamp", "selfLink", "uid", "generation", "managedFields"),
            "resourceVersion",
        )
    }
)
# structs that exist in every object of their type, even when empty: their appearance is owned by nobody
ALWAYS_THERE = frozenset(
    {
        "metadata",
        "spec",
        "status",
        "template",
        "strategy",
        "updateStrategy",
        "names",
        "jobTemplate",
        "roleRef",
        "source",
    }
    | {"containers", "versions", "daemonEndpoints", "nodeInfo", "deprecatedSource"}
)


def item_element(item: Any, shape: Shape) -> str | None:
    """The path element of a list item; None when a key is missing."""
    if shape.is_set:
        return "v:" + json.dumps(item, separators=(",", ":"))
    if not isinstance(item, dict):
        return None
    keys = {}
    for key in sorted(shape.keys):
        value = item.get(key, KEY_DEFAULTS.get(key))
        if value is None:
            return None
        keys[key] = value
    return "k:" + json.dumps(keys, separators=(",", ":"), ensure_ascii=False)


def keyed(items: Any, shape: Shape) -> dict[str, Any]:
    """Items of a list by their path element, in order."""
    found = {}
    for item in items if isinstance(items, list) else ():
        element = item_element(item, shape)
        if element is not None:
            found[element] = item
    return found


def paths_of(value: Any, shape: Shape, at: Path = ()) -> set[Path]:
    """What an applied configuration claims: its leaves, list items, and map entries."""
    if shape.atomic and at:
        return {at}
    found: set[Path] = set()
    if isinstance(value, dict):
        for key, part in value.items():
            child, path = shape.child(key), (*at, f"f:{key}")
            found |= paths_of(part, child, path)
            if part is None or part == {} or (shape.kind == "map"):
                found.add(path)
    elif shape.kind == "list" and isinstance(value, list):
        element = shape.element
        assert element is not None
        for mark, item in keyed(value, shape).items():
            found |= paths_of(item, element, (*at, mark))
            found.add((*at, mark))
    else:
        found.add(at)
    return found


def _always_there(at: Path, shape: Shape) -> bool:
    """Whether Go's type holds this struct even when nobody set it; never so in custom resources."""
    return not at or (at[-1][2:] in ALWAYS_THERE and shape.schema is None)


def changed(old: Any, new: Any, shape: Shape, at: Path = ()) -> tuple[set[Path], set[Path]]:
    """Paths that a write set (added or modified) and paths it removed."""
    if old == new:
        return set(), set()
    if (shape.atomic and at) or not _walkable(old, new, shape):
        return {at}, set()
    before, after = _children(old, shape), _children(new, shape)
    written: set[Path] = set()
    removed: set[Path] = set()
    if old is None and not _always_there(at, shape):
        written.add(at)
    if new is None and at:
        removed.add(at)
    if not before and not after and not _always_there(at, shape):
        written.add(at)
    for mark in before.keys() | after.keys():
        child = shape.child(mark[2:]) if mark.startswith("f:") else shape.element
        assert child is not None
        more, less = _changed_child((before, after), mark, child, at)
        written |= more
        removed |= less
    return written, removed


def _changed_child(
    both: tuple[dict[str, Any], dict[str, Any]], mark: str, shape: Shape, at: Path
) -> tuple[set[Path], set[Path]]:
    before, after = both
    path = (*at, mark)
    if mark not in after:
        return set(), _everything(before[mark], shape, path)
    if mark not in before:
        unset = not at and after[mark] in (None, "")
        return (set() if unset else _everything(after[mark], shape, path)), set()
    was = before[mark]
    if was is None and isinstance(after[mark], dict | list):
        was = type(after[mark])()  # null is there already, only empty
    return changed(was, after[mark], shape, path)


def _walkable(old: Any, new: Any, shape: Shape) -> bool:
    if shape.kind == "list":
        return shape.keys != () or shape.is_set
    return shape.kind != "scalar" and all(value is None or isinstance(value, dict) for value in (old, new))


def _children(value: Any, shape: Shape) -> dict[str, Any]:
    if shape.kind == "list":
        return keyed(value, shape)
    return {f"f:{key}": part for key, part in value.items()} if isinstance(value, dict) else {}


def _everything(value: Any, shape: Shape, at: Path) -> set[Path]:
    """All paths of a value that appeared or went as a whole."""
    if shape.atomic or not isinstance(value, dict | list) or (shape.kind == "any" and isinstance(value, list)):
        return {at}
    found = set() if _always_there(at, shape) else {at}
    for mark, part in _children(value, shape).items():
        child = shape.child(mark[2:]) if mark.startswith("f:") else shape.element
        assert child is not None
        found |= _everything(part, child, (*at, mark))
    return found


def to_fields(paths: Iterable[Path]) -> dict[str, Any]:
    """Paths in the nested form of fieldsV1."""
    root: dict[str, Any] = {}
    members = set(paths)
    for path in sorted(members):
        node = root
        for element in path:
            node = node.setdefault(element, {})
    return _dotted(root, members, ())


def _dotted(node: dict[str, Any], members: set[Path], at: Path) -> dict[str, Any]:
    """The tree with a "." in each branch that is a member itself."""
    inner = {element: _dotted(below, members, (*at, element)) for element, below in node.items()}
    return {".": {}, **inner} if inner and at in members else inner


def from_fields(fields: dict[str, Any], at: Path = ()) -> set[Path]:
    """The paths of a fieldsV1 value."""
    found: set[Path] = set()
    for element, inner in fields.items():
        if element == ".":
            found.add(at)
        elif inner:
            found |= from_fields(inner, (*at, element))
        else:
            found.add((*at, element))
    return found


def shown(path: Path) -> str:
    """A path as conflict messages write it: .spec.containers[name="a"].image"""
    text = ""
    for element in path:
        if element.startswith("f:"):
            text += f".{element[2:]}"
        elif element.startswith("k:"):
            keys = json.loads(element[2:])
            text += "[" + ",".join(f"{key}={json.dumps(value)}" for key, value in keys.items()) + "]"
        else:
            text += f"[={element[2:]}]"
    return text
