"""Layers from the environment and from flags: `KUBE_COLLECTOR__LOG__LEVEL=debug`, `--set log.level=debug`.

Both give text. Text that begins with `[` or `{` is read as YAML, `null` is no value, everything else is left to the field's
type, so `8080` is a number where a number is wanted and text where text is wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from pipeline.config.origins import KeyPath, Layer, Origin, Problem

PREFIX = "KUBE_COLLECTOR__"


class Flag(NamedTuple):
    """A value given by an option of its own, such as `--port 8080`; `name` is shown as its origin."""

    name: str
    value: object


def from_environment(env: Mapping[str, str]) -> Layer:
    """The variables that begin with the prefix; two underscores part the steps of the path."""
    named = (
        (Origin("env", name), tuple(name.removeprefix(PREFIX).lower().split("__")), text)
        for name, text in sorted(env.items())
        if name.startswith(PREFIX)
    )
    return _layer(named)


def from_overrides(overrides: Mapping[str, object]) -> Layer:
    """Overrides by dotted path. A value that is a `Flag` is shown as that flag, any other as `--set path`."""
    return _layer(
        (
            Origin("flag", value.name if isinstance(value, Flag) else f"--set {path}"),
            tuple(path.split(".")),
            value.value if isinstance(value, Flag) else value,
        )
        for path, value in overrides.items()
    )


def variable_of(path: KeyPath) -> str:
    """The environment variable that sets the value at `path`."""
    return PREFIX + "__".join(str(step).upper() for step in path)


def _layer(named: Iterable[tuple[Origin, tuple[str, ...], object]]) -> Layer:
    layer = Layer({}, {}, [])
    for origin, path, given in named:
        try:
            value = _value(given)
        except yaml.YAMLError as error:
            layer.problems.append(Problem(origin, path, f"not YAML: {getattr(error, 'problem', error)}"))
            continue
        what = _put(layer, path, value, origin)
        if what:
            layer.problems.append(Problem(origin, path, what))
    return layer


def _value(given: object) -> object:
    if not isinstance(given, str):
        return given
    if given[:1] in {"[", "{"}:
        return yaml.safe_load(given)
    return None if given == "null" else given


def _put(layer: Layer, path: tuple[str, ...], value: object, origin: Origin) -> str | None:
    """Puts the value in its place; the answer is what is wrong with the path, if anything."""
    if not all(path):
        return "an empty step in the name"
    inside: Any = layer.values
    for length, step in enumerate(path[:-1], start=1):
        inside = inside.setdefault(step, {})
        if not isinstance(inside, dict):
            return f"conflicts with {layer.origins[path[:length]]}, which sets the whole of it"
        layer.origins.setdefault(path[:length], origin)
    if isinstance(inside.get(path[-1]), dict) and not isinstance(value, dict):
        return f"conflicts with {layer.origins[path]}, which sets a part of it"
    inside[path[-1]] = value
    layer.origins.update(dict.fromkeys(_within(path, value), origin))
    return None


def _within(path: KeyPath, value: object) -> Iterator[KeyPath]:
    """The path of a value and of everything in it."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _within((*path, key), inner)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _within((*path, at), inner)
