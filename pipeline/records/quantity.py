"""Kubernetes quantities ("8", "500m", "64Gi", "1e3") as exact integers."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache

_FORM = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:([eE][+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i)?)$", re.ASCII)
_SCALE = {
    "n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"), "k": Decimal(10**3), "M": Decimal(10**6),
    "G": Decimal(10**9), "T": Decimal(10**12), "P": Decimal(10**15), "E": Decimal(10**18), "Ki": Decimal(2**10),
    "Mi": Decimal(2**20), "Gi": Decimal(2**30), "Ti": Decimal(2**40), "Pi": Decimal(2**50), "Ei": Decimal(2**60),
}  # fmt: skip
Quantity = str | int | float


@lru_cache(maxsize=4096)
def parse(value: Quantity) -> Decimal:
    """The exact value. Raises ValueError when it is not a quantity."""
    found = _FORM.match(str(value).strip())
    if found is None:
        raise ValueError(f"{value!r} is not a Kubernetes quantity")
    number = Decimal(found[1] + (found[2] or ""))
    return number * _SCALE[found[3]] if found[3] else number


def units(value: Quantity | None) -> int:
    """Whole units (bytes, devices), rounded up as the API server rounds; 0 for None and what cannot be read."""
    return _scaled(value, 1)


def milli(value: Quantity | None) -> int:
    """Thousandths (CPU), rounded up; 0 for None and what cannot be read."""
    return _scaled(value, 1000)


def _scaled(value: Quantity | None, factor: int) -> int:
    if value is None:
        return 0
    try:
        return int((parse(value) * factor).to_integral_value(rounding=ROUND_CEILING))
    except (ValueError, ArithmeticError):
        return 0
