"""Turns what pydantic found into lines for a person: the path in the file, what is wrong, what was meant.

Pydantic names alternatives and wrappers in its locations and speaks of inputs and types; a person wrote a key in a file.
A value of a secret field is never repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pydantic
from pydantic_core import ErrorDetails

from pipeline.config import environment, origins, shape
from pipeline.config.origins import KeyPath, Origin, Problem
from pipeline.config.suggest import did_you_mean


def problems(
    error: pydantic.ValidationError, model: shape.Model, values: dict[str, Any], known: dict[KeyPath, Origin]
) -> list[Problem]:
    """One problem a path, in the order of pydantic; of several alternatives that failed, the first one's."""
    found: dict[KeyPath, Problem] = {}
    for detail in error.errors(include_url=False):
        path = _path(detail, values)
        if path not in found:
            found[path] = Problem(origins.nearest(known, path), path, _what(detail, path, model))
    return list(found.values())


def _path(detail: ErrorDetails, values: Any) -> KeyPath:
    """The location without the steps that pydantic put in for unions and wrappers."""
    path: list[str | int] = []
    for at, step in enumerate(detail["loc"]):
        if isinstance(values, dict) and step in values:
            values = values[str(step)]
        elif isinstance(values, list) and isinstance(step, int) and step < len(values):
            values = values[step]
        elif not (detail["type"] == "missing" and at == len(detail["loc"]) - 1):
            continue
        path.append(step)
    return tuple(path)


def _what(detail: ErrorDetails, path: KeyPath, model: shape.Model) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown(path, list(shape.fields_at(model, path[:-1])))
    if kind == "missing":
        in_list = any(isinstance(step, int) for step in path)
        return "missing" if in_list else f"missing (set it in a file or as {environment.variable_of(path)})"
    if kind in {"union_tag_invalid", "union_tag_not_found"}:
        return _variant(context)
    shown = "" if shape.is_secret(shape.field_at(model, path)) else f", not {_shown(detail['input'])}"
    if kind in {"literal_error", "enum"}:
        return f"must be {context['expected']}{shown}" + _meant(detail["input"], context["expected"])
    if kind == "value_error":
        return str(context["error"])
    if kind in _TOO_FEW and context["min_length"] == 1:
        return "must not be empty"
    return f"{_MUST[kind](context)}{shown}" if kind in _MUST else f"{detail['msg']}{shown}"


def _unknown(path: KeyPath, known: list[str]) -> str:
    what = "unknown section" if len(path) == 1 else "unknown key"
    meant = did_you_mean(str(path[-1]), known)
    return what + (meant or (f" (there are {', '.join(known)})" if 0 < len(known) <= 12 else ""))


def _variant(context: Mapping[str, Any]) -> str:
    """A mapping that may have one of several shapes, told apart by a key of it."""
    key, given = str(context["discriminator"]).strip("'"), context.get("tag")
    if given is None:
        return f"{key} is missing: it says what this is"
    expected = context["expected_tags"]
    return f"{key} must be {expected.replace(', ', ' or ')}, not {given!r}" + _meant(given, expected)


def _meant(given: object, expected: str) -> str:
    return (
        did_you_mean(given, expected.replace("'", "").replace(" or ", ", ").split(", "))
        if isinstance(given, str)
        else ""
    )


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "…"


_TOO_FEW = frozenset({"too_short", "string_too_short"})
_Context = Mapping[str, Any]
_MUST: dict[str, Callable[[_Context], str]] = {
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), lambda _: "must be a whole number"),
    **dict.fromkeys(("float_parsing", "float_type"), lambda _: "must be a number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), lambda _: "must be true or false"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type"), lambda _: "must be a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), lambda _: "must be a mapping"),
    "string_type": lambda _: "must be text (in quotes if it looks like a number)",
    "greater_than": lambda c: f"must be above {c['gt']}",
    "greater_than_equal": lambda c: f"must be at least {c['ge']}",
    "less_than": lambda c: f"must be below {c['lt']}",
    "less_than_equal": lambda c: f"must be at most {c['le']}",
    "string_pattern_mismatch": lambda c: f"must match {c['pattern']}",
    "string_too_short": lambda c: f"must have at least {c['min_length']} characters",
    "too_short": lambda c: f"must have at least {c['min_length']} items",
    "path_type": lambda _: "must be a path",
}
