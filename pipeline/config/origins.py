"""Where a value comes from: a place in a file, a variable, a flag; and the tree of values that remembers it."""

from __future__ import annotations

from typing import Any, NamedTuple

KeyPath = tuple[str | int, ...]
"""The way to a value: keys of mappings, positions in lists."""


class Origin(NamedTuple):
    """Where a value was written. `kind` is default, file, env or flag; `source` the file, variable or flag."""

    kind: str
    source: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}" if self.line else self.source


DEFAULT = Origin("default", "default")


class Problem(NamedTuple):
    """One mistake: where, at which key, what, as one line for a person."""

    origin: Origin
    path: KeyPath
    what: str

    def __str__(self) -> str:
        return f"{self.origin}: {dotted(self.path)}: {self.what}" if self.path else f"{self.origin}: {self.what}"


class Layer(NamedTuple):
    """Values of one source, nested as in a file; the origin of every key and item by its path; what was wrong."""

    values: dict[str, Any]
    origins: dict[KeyPath, Origin]
    problems: list[Problem]


class _Unset:
    """The value of `key:` with nothing behind it: the key is named, and left at what it is without it."""

    def __repr__(self) -> str:
        return "unset"


UNSET = _Unset()


def dotted(path: KeyPath) -> str:
    """`("sinks", "alerts", 0, "url")` is `sinks.alerts[0].url`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def nearest(origins: dict[KeyPath, Origin], path: KeyPath) -> Origin:
    """The origin of the value at `path`, or of the nearest value around it."""
    for length in range(len(path), 0, -1):
        if path[:length] in origins:
            return origins[path[:length]]
    return DEFAULT


def merge(layers: list[Layer]) -> Layer:
    """One layer of all, later ones over earlier ones; mappings are merged key by key, everything else is replaced."""
    merged = Layer({}, {}, [problem for layer in layers for problem in layer.problems])
    for layer in layers:
        _lay_over(merged.values, layer.values, (), merged.origins, layer.origins)
    return merged


def _lay_over(
    below: dict[str, Any],
    above: dict[str, Any],
    path: KeyPath,
    origins: dict[KeyPath, Origin],
    new: dict[KeyPath, Origin],
) -> None:
    for key, value in above.items():
        here = (*path, key)
        if value is UNSET and key in below:
            continue
        if isinstance(value, dict) and isinstance(below.get(key), dict):
            _lay_over(below[key], value, here, origins, new)
            continue
        for known in [known for known in origins if known[: len(here)] == here]:
            del origins[known]
        below[key] = _copied(value)
        origins.update((inner, origin) for inner, origin in new.items() if inner[: len(here)] == here)


def _copied(value: Any) -> Any:
    return {key: _copied(inner) for key, inner in value.items()} if isinstance(value, dict) else value
