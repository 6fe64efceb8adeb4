"""What a settings model looks like from outside: which keys are known where, and what stands at a path.

Suggestions, the reference page and `config show` walk models with this; pydantic's own walk is not public.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from typing import Any

import pydantic
from pydantic.fields import FieldInfo

from pipeline.config.origins import UNSET, KeyPath

Model = type[pydantic.BaseModel]


def models(annotation: Any) -> list[Model]:
    """The models that a value of this annotation may be, without those inside lists and mappings."""
    if isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel):
        return [annotation]
    origin = typing.get_origin(annotation)
    if origin in {typing.Union, types.UnionType}:
        return [model for part in typing.get_args(annotation) for model in models(part)]
    return models(typing.get_args(annotation)[0]) if origin is typing.Annotated else []


def inner(annotation: Any) -> list[Any]:
    """The annotations of what a list or mapping holds."""
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin in {typing.Union, types.UnionType}:
        return [found for part in arguments for found in inner(part)]
    if origin is typing.Annotated:
        return inner(arguments[0])
    if origin in {list, tuple, set, frozenset}:
        return [part for part in arguments if part is not ...]
    return [arguments[1]] if origin is dict else []


def fields_at(model: Model, path: KeyPath) -> dict[str, FieldInfo]:
    """The fields that are known at `path` (a model's own for the empty path); none where anything may stand."""
    annotations: list[Any] = [model]
    for step in path:
        annotations = [found for annotation in annotations for found in _below(annotation, step)]
    return {
        name: field
        for annotation in annotations
        for each in models(annotation)
        for name, field in each.model_fields.items()
    }


def field_at(model: Model, path: KeyPath) -> FieldInfo | None:
    """The nearest field around the value at `path`: the value's own, or that of its list or mapping."""
    for length in range(len(path), 0, -1):
        found = fields_at(model, path[: length - 1]).get(str(path[length - 1]))
        if found is not None:
            return found
    return None


def walk(model: Model, path: KeyPath = ()) -> Iterator[tuple[KeyPath, FieldInfo]]:
    """Every field below a model, in order of declaration; `[]` stands for any item of a list, `{}` of a mapping."""
    for name, field in model.model_fields.items():
        here = (*path, name)
        yield here, field
        annotation = field.annotation
        for each in models(annotation):
            yield from walk(each, here)
        for held in inner(annotation):
            mark = "{}" if _holds_mapping(annotation) else "[]"
            for each in models(held):
                yield from walk(each, (*here, mark))


def is_secret(field: FieldInfo | None) -> bool:
    """Whether the field, or what it holds, must never be shown."""
    return field is not None and _mentions_secret(field.annotation)


def without_unset(values: Any, model: Model, path: KeyPath = ()) -> Any:
    """The values without the keys that are named but left empty; those stay (as None) where the key is not known."""
    if isinstance(values, dict):
        known = fields_at(model, path)
        return {
            key: None if value is UNSET else without_unset(value, model, (*path, key))
            for key, value in values.items()
            if not (value is UNSET and key in known)
        }
    if isinstance(values, list):
        return [without_unset(value, model, (*path, at)) for at, value in enumerate(values)]
    return values


def _below(annotation: Any, step: str | int) -> list[Any]:
    found: list[Any] = [each.model_fields[step].annotation for each in models(annotation) if step in each.model_fields]
    return found or inner(annotation)


def _holds_mapping(annotation: Any) -> bool:
    return typing.get_origin(annotation) is dict or any(_holds_mapping(part) for part in typing.get_args(annotation))


def _mentions_secret(annotation: Any) -> bool:
    if isinstance(annotation, type):
        return issubclass(annotation, (pydantic.Secret, pydantic.SecretStr, pydantic.SecretBytes))
    return any(_mentions_secret(part) for part in typing.get_args(annotation))
