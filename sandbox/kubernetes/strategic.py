"""Strategic merge patch: merge patch that knows which lists have keys, with its directives.

Lists with keys merge by their first key, sets of scalars merge as unions, all other lists are replaced.
"""

from typing import Any

from sandbox.kubernetes.shapes import Shape
from sandbox.kubernetes.statuses import bad_request

PATCH = "$patch"
RETAIN = "$retainKeys"
ORDER = "$setElementOrder/"
DELETE = "$deleteFromPrimitiveList/"


def strategic_patch(target: Any, patch: Any, shape: Shape) -> Any:
    """`target` with `patch` merged in. Raises ApiError 400 for a patch that is no object."""
    if not isinstance(patch, dict):
        raise bad_request("error decoding patch: a strategic merge patch has to be an object")
    return _merge(target, patch, shape)


def _merge(target: Any, patch: dict[str, Any], shape: Shape) -> Any:
    directive = patch.get(PATCH)
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != PATCH}
    if directive == "delete":
        return {}
    merged = dict(target) if isinstance(target, dict) else {}
    if RETAIN in patch:
        merged = {key: value for key, value in merged.items() if key in patch[RETAIN]}
    for key, value in patch.items():
        if key in (PATCH, RETAIN) or key.startswith(ORDER):
            continue
        if key.startswith(DELETE):
            name = key[len(DELETE) :]
            merged[name] = [item for item in merged.get(name, ()) if item not in value]
        elif value is None:
            merged.pop(key, None)
        else:
            merged[key] = _value(merged.get(key), value, shape.child(key))
    _reorder(merged, patch, shape)
    return merged


def _value(old: Any, new: Any, shape: Shape) -> Any:
    if isinstance(new, dict):
        return _merge(old, new, shape)
    if isinstance(new, list) and shape.kind == "list":
        if shape.keys:
            return _merge_list(old or [], new, shape)
        if shape.is_set:
            return [*(old or []), *(item for item in new if item not in (old or []))]
    return new


def _merge_list(old: list[Any], new: list[Any], shape: Shape) -> list[Any]:
    key, element = shape.keys[0], shape.element
    assert element is not None
    if any(isinstance(item, dict) and item.get(PATCH) == "replace" for item in new):
        return [item for item in new if not (isinstance(item, dict) and PATCH in item)]
    before, patched = {item.get(key): item for item in old}, {}
    for item in new:
        if not isinstance(item, dict) or not isinstance(item.get(key), str | int):
            raise bad_request(f"map: {item} does not contain declared merge key: {key}")
        if item.get(PATCH) == "delete":
            before.pop(item[key], None)
        else:
            patched[item[key]] = _merge(before.get(item[key], {}), item, element)
    return _woven([item.get(key) for item in old], before, patched)


def _woven(order: list[Any], before: dict[Any, Any], patched: dict[Any, Any]) -> list[Any]:
    """Patched items in the patch's order, the others where they were; new ones come before them."""
    kept = [mark for mark in before if mark not in patched]
    woven = []
    for mark, item in patched.items():
        while kept and mark in order and order.index(kept[0]) < order.index(mark):
            woven.append(before[kept.pop(0)])
        woven.append(item)
    return woven + [before[mark] for mark in kept]


def _reorder(merged: dict[str, Any], patch: dict[str, Any], shape: Shape) -> None:
    for directive, wanted in patch.items():
        name = directive[len(ORDER) :]
        if not directive.startswith(ORDER) or not isinstance(merged.get(name), list):
            continue
        keys = shape.child(name).keys
        order = [item.get(keys[0]) if isinstance(item, dict) and keys else item for item in wanted]

        def rank(item: Any, keys: tuple[str, ...] = keys, order: list[Any] = order) -> int:
            mark = item.get(keys[0]) if isinstance(item, dict) and keys else item
            return order.index(mark) if mark in order else len(order)

        merged[name] = sorted(merged[name], key=rank)
