"""Arguments of plugins and actions, read as Volcano reads them: text, numbers and truth values all may be written as text.

What cannot be read leaves the default, as upstream; `tiers` has warned about it.
"""

from __future__ import annotations

import math
from typing import Any, Final

from scheduler_core.model.policy import Arguments

_TRUTH: Final = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


def whole(arguments: Arguments, name: str, default: int) -> int:
    """A whole number of 64 bits."""
    found = _whole(arguments.get(name))
    return default if found is None else found


def number(arguments: Arguments, name: str, default: float) -> float:
    """A number."""
    found = _number(arguments.get(name))
    return default if found is None else found


def truth(arguments: Arguments, name: str, *, default: bool) -> bool:
    """A truth value."""
    value = arguments.get(name)
    found = None if value is None else _truth(value)
    return default if found is None else found


def _whole(value: Any) -> int | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        found = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if -(2**63) <= found < 2**63 else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isnan(found) else found


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else _TRUTH.get(str(value))


_FACTORS: Final = frozenset({"overcommit-factor", "hypernode.binpack.normal-pod.fading"})
_WHOLES: Final = frozenset({"weight", "ancestorReclaimLevel"})


def doubt(name: str, value: object) -> str:
    """Why the value of a plugin's argument counts as not given, or nothing. The name tells what is meant."""
    if value is None:
        return ""
    if name in _FACTORS:
        return "" if _number(value) is not None else f"{_short(value)} is no number"
    if name in _WHOLES or name.endswith((".weight", ".cpu", ".memory")) or ".resources." in name:
        return "" if _whole(value) is not None else f"{_short(value)} is no whole number"
    if name.endswith(("Enable", ".enable")):
        return "" if _truth(value) is not None else f"{_short(value)} is neither true nor false"
    return f"{_short(value)} is no text" if name.endswith(".resources") and not isinstance(value, str) else ""


def _short(value: object) -> str:
    return repr(value)[:40]


def text(arguments: Arguments, name: str) -> str | None:
    """Text; anything else is none."""
    value = arguments.get(name)
    return value if isinstance(value, str) else None


def weight(arguments: Arguments, name: str, default: int = 1) -> int:
    """A weight: a whole number, and the default if it is below zero."""
    value = whole(arguments, name, default)
    return default if value < 0 else value


def resource_weights(arguments: Arguments, prefix: str) -> dict[str, int]:
    """Weights of resources: `PREFIX.cpu`, `PREFIX.memory`, and the names in `PREFIX.resources`, each with `PREFIX.resources.NAME`.

    Cpu and memory have their own arguments, also if they are among the names.
    """
    names = [name.strip() for name in (text(arguments, f"{prefix}.resources") or "").split(",")]
    found = {name: weight(arguments, f"{prefix}.resources.{name}") for name in names if name}
    return found | {name: weight(arguments, f"{prefix}.{name}") for name in ("cpu", "memory")}
