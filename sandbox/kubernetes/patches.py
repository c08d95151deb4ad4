"""JSON merge patch (RFC 7386) and JSON patch (RFC 6902)."""

from copy import deepcopy
from typing import Any

from sandbox.kubernetes.statuses import bad_request, rejected_patch

OPERATIONS = frozenset({"add", "remove", "replace", "move", "copy", "test"})


def merge_patch(target: Any, patch: Any) -> Any:
    """`target` with `patch` merged in; null deletes, lists are replaced."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def json_patch(document: Any, patch: Any) -> Any:
    """`document` after all operations; it may be changed on the way.

    Raises ApiError 400 for what is no patch, 422 when it does not fit the document.
    """
    if not isinstance(patch, list):
        kind = "object" if isinstance(patch, dict) else type(patch).__name__
        text = f"json: cannot unmarshal {kind} into Go value of type []handlers.jsonPatchOp"
        raise bad_request(f"error decoding patch: {text}")
    for operation in patch:
        if not isinstance(operation, dict) or str(operation.get("op")) not in OPERATIONS:
            raise rejected_patch()
        document = _operate(document, operation)
    return document


def _operate(document: Any, operation: dict[str, Any]) -> Any:
    path = _pointer(operation.get("path"))
    match operation["op"]:
        case "add":
            return _add(document, path, _given(operation))
        case "replace":
            _look(document, path)
            return _add(_removed(document, path), path, _given(operation)) if path else _given(operation)
        case "remove":
            _look(document, path)
            return _removed(document, path)
        case "move":
            source = _pointer(operation.get("from"))
            value = _look(document, source)
            return _add(_removed(document, source), path, value)
        case "copy":
            return _add(document, path, deepcopy(_look(document, _pointer(operation.get("from")))))
        case _:
            if _look(document, path, missing=None) != operation.get("value"):
                raise rejected_patch()
            return document


def _given(operation: dict[str, Any]) -> Any:
    if "value" not in operation:
        raise rejected_patch()
    return operation["value"]


def _pointer(text: Any) -> list[str]:
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise rejected_patch()
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


_RAISE = object()


def _look(document: Any, path: list[str], missing: Any = _RAISE) -> Any:
    value = document
    for part in path:
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif missing is _RAISE:
            raise rejected_patch()
        else:
            return missing
    return value


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, last = _look(document, path[:-1]), path[-1]
    if isinstance(parent, dict):
        parent[last] = value
    elif isinstance(parent, list) and last == "-":
        parent.append(value)
    elif isinstance(parent, list) and last.isdigit() and int(last) <= len(parent):
        parent.insert(int(last), value)
    else:
        raise rejected_patch()
    return document


def _removed(document: Any, path: list[str]) -> Any:
    if not path:
        return None
    parent, last = _look(document, path[:-1]), path[-1]
    if isinstance(parent, dict):
        del parent[last]
    elif isinstance(parent, list) and last.isdigit():
        del parent[int(last)]
    return document
