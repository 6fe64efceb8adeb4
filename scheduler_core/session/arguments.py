"""Arguments of plugins and actions, read as Volcano reads them: text, numbers and truth values all may be written as text.

What cannot be read leaves the default, as upstream; `tiers` has warned about it.
"""

from __future__ import annotations

from scheduler_core.model.policy import Arguments

_TRUTH = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


def whole(arguments: Arguments, name: str, default: int) -> int:
    """A whole number of 64 bits."""
    value = arguments.get(name)
    if isinstance(value, bool) or value is None:
        return default
    try:
        found = int(value)
    except (TypeError, ValueError, OverflowError):
        return default
    return found if -(2**63) <= found < 2**63 else default


def number(arguments: Arguments, name: str, default: float) -> float:
    """A number."""
    value = arguments.get(name)
    if isinstance(value, bool) or value is None:
        return default
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return default


def truth(arguments: Arguments, name: str, *, default: bool) -> bool:
    """A truth value."""
    value = arguments.get(name)
    if isinstance(value, bool):
        return value
    return _TRUTH.get(str(value), default)


def text(arguments: Arguments, name: str) -> str | None:
    """Text; anything else is none."""
    value = arguments.get(name)
    return value if isinstance(value, str) else None


def weight(arguments: Arguments, name: str, default: int = 1) -> int:
    """A weight: a whole number, and the default if it is below zero."""
    value = whole(arguments, name, default)
    return default if value < 0 else value


def resource_weights(arguments: Arguments, prefix: str) -> dict[str, int]:
    """Weights of resources: `PREFIX.cpu`, `PREFIX.memory`, and the names in `PREFIX.resources`, each with `PREFIX.resources.NAME`."""
    found = {"cpu": weight(arguments, f"{prefix}.cpu"), "memory": weight(arguments, f"{prefix}.memory")}
    for name in (text(arguments, f"{prefix}.resources") or "").split(","):
        if name.strip():
            found[name.strip()] = weight(arguments, f"{prefix}.resources.{name.strip()}")
    return found
