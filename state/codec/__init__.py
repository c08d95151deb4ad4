"""Frozen dataclasses ↔ JSON text, so that the journal outlives any version of this code.

Read from the type annotations alone: tuples, mappings with text keys, StrEnums, aware datetimes (ISO, microseconds),
timedeltas (seconds), None, nested records, and unions of records, which carry their class name under "$". `object`
means plain JSON (tuples come back as lists). Unknown fields are ignored and missing ones take their defaults, so that
two versions of the code can stand side by side; what cannot be understood raises Unreadable. Nothing about runs or
Redis enters here.
"""

from state.codec.reading import Unreadable, decode, decode_any
from state.codec.writing import encode

__all__ = ["Unreadable", "decode", "decode_any", "encode"]
