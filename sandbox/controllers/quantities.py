"""Kubernetes quantities as numbers. Knows nothing of pods or nodes."""

from decimal import Decimal, InvalidOperation

_UNITS = {
    "": Decimal(1),
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("0.001"),
    "k": Decimal(10) ** 3,
    "M": Decimal(10) ** 6,
    "G": Decimal(10) ** 9,
    "T": Decimal(10) ** 12,
    "P": Decimal(10) ** 15,
    "E": Decimal(10) ** 18,
    "Ki": Decimal(2) ** 10,
    "Mi": Decimal(2) ** 20,
    "Gi": Decimal(2) ** 30,
    "Ti": Decimal(2) ** 40,
    "Pi": Decimal(2) ** 50,
    "Ei": Decimal(2) ** 60,
}


def quantity(text: str | float) -> Decimal:
    """The number a quantity stands for; 0 for what is none ("16", "15890m", "77316732Ki", 4)."""
    written = str(text).strip()
    for length in (2, 1, 0):
        unit = written[len(written) - length :] if length else ""
        if unit in _UNITS and len(unit) == length:
            try:
                return Decimal(written[: len(written) - length]) * _UNITS[unit]
            except InvalidOperation:
                continue
    return Decimal(0)
