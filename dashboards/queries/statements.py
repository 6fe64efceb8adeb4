"""Statements from their files, and their parameters bound.

`:name` becomes `%(name)s`, which the client fills with an escaped literal; a list becomes as many literals. A parameter that
the text does not know, or one that is missing, is a mistake of ours and raises at once.
"""

from __future__ import annotations

import functools
import re
import textwrap
from collections.abc import Mapping
from importlib import resources
from typing import NamedTuple

_INCLUDE = re.compile(r"^( *)-- include (\w+)\n", re.MULTILINE)
_PARAMETER = re.compile(r":([a-z][a-z0-9_]*)")
"""A colon before a letter; the colons of times stand before digits."""
_COMMENT = re.compile(r"^\s*--[^\n]*\n", re.MULTILINE)
_SAMPLES = {"at": "'2026-01-01 00:00:00.000'", "day": "'2026-01-01'", "days": "'2026-01-01'"}
_NUMBERS = {"limit", "direction", "episode", "after_key"}

Value = str | int | tuple[str | int, ...]


class Statement(NamedTuple):
    """`text` as in its file, without its comments; `names` of its parameters."""

    text: str
    names: frozenset[str]


@functools.cache
def statement(name: str) -> Statement:
    """The statement of `NAME.sql`. Raises FileNotFoundError."""
    text = _COMMENT.sub("", _read(name)).strip()
    return Statement(text, frozenset(_PARAMETER.findall(text)))


@functools.cache
def names() -> tuple[str, ...]:
    """Every statement there is; files that begin with `_` are parts of others."""
    files = [file.name for file in resources.files("dashboards.queries").iterdir()]
    return tuple(sorted(name.removesuffix(".sql") for name in files if name.endswith(".sql") and name[0] != "_"))


def bind(name: str, parameters: Mapping[str, Value]) -> tuple[str, dict[str, str | int]]:
    """The text for the client and its arguments. Raises KeyError for a parameter too few or too many."""
    wanted = statement(name)
    if wanted.names != parameters.keys():
        raise KeyError(f"{name}.sql takes {sorted(wanted.names)}, not {sorted(parameters)}")
    arguments: dict[str, str | int] = {}

    def place(found: re.Match[str]) -> str:
        value = parameters[found[1]]
        if not isinstance(value, tuple):
            arguments[found[1]] = value
            return f"%({found[1]})s"
        each = {f"{found[1]}_{at}": item for at, item in enumerate(value)}
        arguments.update(each)
        return ", ".join(f"%({key})s" for key in each) or "NULL"

    return _PARAMETER.sub(place, wanted.text.replace("%", "%%")), arguments


def shipped() -> dict[str, str]:
    """Every statement with a literal in the place of each parameter, for a check by Doris' grammar."""
    return {f"figure_{name}": _PARAMETER.sub(_sample, statement(name).text) for name in names()}


def _read(name: str) -> str:
    """A file with the parts that it includes in their places."""
    text = (resources.files("dashboards.queries") / f"{name}.sql").read_text(encoding="utf-8")
    return _INCLUDE.sub(lambda found: textwrap.indent(_read(found[2]), found[1]), text)


def _sample(found: re.Match[str]) -> str:
    name = found[1]
    kind = name.rsplit("_", 1)[-1]
    if name in _NUMBERS or name.startswith("any_") or kind == "ms":
        return "1"
    return _SAMPLES.get(kind, "'text'")
