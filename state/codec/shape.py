"""What writing and reading agree on: the tag, the plain types, the keys of mappings. Nothing that converts."""

from typing import Any, get_args

TAG = "$"
PLAIN: tuple[type, ...] = (str, int, float, bool)


def same(value: Any) -> Any:
    return value


def value_type(kind: Any) -> Any:
    key, value = get_args(kind)
    if key is not str:
        raise TypeError(f"{kind}: only text keys can be stored")
    return value
