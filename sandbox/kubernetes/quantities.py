"""Quantities such as 500m, 1Gi and 2: parsing and the one spelling the server gives back."""

import re
from fractions import Fraction

PATTERN = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))([eE][+-]?\d+|[KMGTPE]i|[numkMGTPE]?)")
BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
SUFFIXES = {power: suffix for suffix, power in DECIMAL.items()}


def parse(text: str) -> tuple[Fraction, str]:
    """Value and style (binary, decimal or exponent). Raises ValueError for what is no quantity."""
    match = PATTERN.fullmatch(text)
    if match is None:
        raise ValueError(text)
    number, suffix = Fraction(match[1]), match[2]
    if suffix.endswith("i"):
        return number * 1024 ** BINARY.index(suffix), "binary"
    if len(suffix) > 1 or suffix == "e":
        return number * Fraction(10) ** int(suffix[1:]), "exponent"
    return number * Fraction(10) ** DECIMAL[suffix], "decimal"


def canonical(text: str) -> str:
    """The spelling a real server stores: no fraction, the largest suffix that keeps it whole; odd texts unchanged."""
    try:
        value, style = parse(text)
    except ValueError:
        return text
    if value == 0:
        return "0"
    if style == "binary" and value.denominator == 1:
        power = 0
        while value % 1024 == 0 and power < len(BINARY) - 1:
            value, power = value / 1024, power + 1
        return f"{value.numerator}{BINARY[power]}"
    return _decimal(value, style)


def _decimal(value: Fraction, style: str) -> str:
    power = -9
    value = value * 10**9
    if value.denominator != 1:
        value = Fraction(-(-value.numerator // value.denominator))
    while value % 1000 == 0 and power < 18:
        value, power = value / 1000, power + 3
    suffix = SUFFIXES[power] if style != "exponent" else (f"e{power}" if power else "")
    return f"{value.numerator}{suffix}"
