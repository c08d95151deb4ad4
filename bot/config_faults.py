"""Say what is wrong with the configuration: one line per fault, with its key and what to write instead.

Values are quoted only where they cannot hold a secret. Nothing is decided here.
"""

import difflib
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from bot.config_model import File

NEVER_SHOWN = ("proxy", "values")
_SENTENCES = {
    "missing": "is missing",
    "string_type": "has to be text; put it in quotation marks",
    "int_type": "has to be a number",
    "int_parsing": "has to be a number",
    "bool_type": "has to be true or false",
    "bool_parsing": "has to be true or false",
    "tuple_type": "has to be a list, such as [U01234567]",
    "dict_type": "has to hold keys of its own",
    "model_type": "has to hold keys of its own",
    "model_attributes_type": "has to hold keys of its own",
}


def faults_of(error: ValidationError, origins: Mapping[str, str]) -> tuple[str, ...]:
    """All faults of a validation. `origins`: key → environment variable, where it came from there."""
    return tuple(dict.fromkeys(_line(dict(fault), origins) for fault in error.errors(include_url=False)))


def _line(fault: Mapping[str, Any], origins: Mapping[str, str]) -> str:
    path = tuple(fault["loc"])
    key = _key(path, origins)
    kind = str(fault["type"])
    if kind == "extra_forbidden":
        return f"{key}: there is no such key{_nearest(path)}"
    if key == "clusters" and kind in ("missing", "too_short"):
        return "clusters: names no cluster; add one by its IKS name or id, such as `clusters: {my-cluster: {}}`"
    if kind == "too_short" and path[-1] == "tested":
        return f"{key}: has to name the lowest and the highest version"
    return f"{key}: {_shown(path, fault.get('input'))}{_sentence(kind, fault)}"


def _sentence(kind: str, fault: Mapping[str, Any]) -> str:
    context = fault.get("ctx") or {}
    match kind:
        case "value_error":
            return str(context.get("error", fault["msg"]))
        case "literal_error":
            return f"is not offered; write {context.get('expected', '')}"
        case "string_pattern_mismatch":
            return f"has to look like {context.get('pattern', '')}"
        case _:
            message = str(fault["msg"])
            return _SENTENCES.get(kind, message[:1].lower() + message[1:])


def _shown(path: tuple[Any, ...], value: Any) -> str:
    if set(NEVER_SHOWN) & set(path) or not isinstance(value, str | int | float | bool):
        return ""
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:59] + '…'} "


def _key(path: tuple[Any, ...], origins: Mapping[str, str]) -> str:
    dotted = ""
    for part in path:
        dotted += f"[{part}]" if isinstance(part, int) else f"{'.' if dotted else ''}{part}"
    return origins.get(dotted, dotted)


def _nearest(path: tuple[Any, ...]) -> str:
    """The known key that was probably meant; otherwise all that there are."""
    known = _names_at(path[:-1])
    close = difflib.get_close_matches(str(path[-1]), known, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; known: {', '.join(known)}" if known else ""


def _names_at(path: tuple[Any, ...]) -> list[str]:
    model: Any = File
    for part in path:
        if isinstance(model, type) and issubclass(model, BaseModel):
            field = model.model_fields.get(str(part))
            model = field.annotation if field is not None else None
        else:  # a map of models: its values' type counts, whatever the key
            model = get_args(model)[-1] if get_args(model) else None
    return list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []
