"""Effective settings as rows: every key with its value as a person writes it, and where it comes from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pydantic

from pipeline.config import fields, origins
from pipeline.config.load import Loaded
from pipeline.config.origins import KeyPath

MASK = "***"


class Setting(NamedTuple):
    """One effective value. `value` is plain data (text, number, truth, null, list), secrets masked."""

    key: str
    value: Any
    origin: str


def settings(loaded: Loaded) -> list[Setting]:
    """Every setting, in the order of the models."""
    return [
        Setting(origins.dotted(path), value, str(loaded.origin(path))) for path, value in _leaves(loaded.ground, ())
    ]


def masked(loaded: Loaded) -> dict[str, Any]:
    """All sections as nested plain data, secrets masked, durations and sizes in their written form."""
    return {name: plain(value, None) for name, value in _members(loaded.ground)}


def written(value: Any) -> str:
    """A value on one line as in a file."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _leaves(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    for name, inner in _members(value):
        here = (*path, name)
        if isinstance(inner, pydantic.BaseModel):
            yield from _leaves(inner, here)
        elif isinstance(inner, list | tuple) and inner and all(isinstance(item, pydantic.BaseModel) for item in inner):
            for at, item in enumerate(inner):
                yield from _leaves(item, (*here, at))
        else:
            yield here, plain(inner, _unit(value, name))


def _members(model: pydantic.BaseModel) -> list[tuple[str, Any]]:
    return [(name, getattr(model, name)) for name in type(model).model_fields]


def _unit(model: pydantic.BaseModel, name: str) -> fields.Unit | None:
    return fields.unit_of(type(model).model_fields[name])


def plain(value: Any, unit: fields.Unit | None) -> Any:
    """A value as plain data: secrets masked, numbers with a unit in their written form."""
    if isinstance(value, pydantic.Secret | pydantic.SecretStr | pydantic.SecretBytes):
        return MASK if value.get_secret_value() else ""
    if isinstance(value, pydantic.BaseModel):
        return {name: plain(inner, _unit(value, name)) for name, inner in _members(value)}
    if isinstance(value, dict):
        return {str(key): plain(inner, None) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner, unit) for inner in value]
    if isinstance(value, int | float) and unit is not None:
        return unit.show(value)
    if isinstance(value, str | int | float | bool | None):
        return value
    return value.as_posix() if isinstance(value, Path) else str(value)
