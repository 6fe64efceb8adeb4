"""The reference of settings, made from the models: a JSON schema for editors and a page for people."""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Iterator
from typing import Any

import pydantic
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from pipeline.config import effective, fields, load, origins, shape
from pipeline.config.origins import KeyPath

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"

_INTRODUCTION = """\
# Settings

Settings come from YAML files, environment variables and flags: defaults < files in the order given < environment <
flags. A file is named with `--config`, by `KUBE_COLLECTOR_CONFIG`, or is `./kube-collector.yaml`; a folder stands for the
`*.yaml` and `*.yml` in it, by name. Mappings are merged key by key, lists are replaced.

- Any key is an environment variable: `log.level` is `KUBE_COLLECTOR__LOG__LEVEL`. On the command line it is
  `--set log.level=debug`. Lists and mappings are written as YAML: `[a, b]`.
- `${VAR}` and `${VAR:-default}` in a file stand for environment variables; `$${` is a plain `${`.
- A secret may be written as `file:PATH`: the text of that file. Secrets are shown as `***`.
- Durations are written as in Go: `500ms`, `30s`, `1h30m`. Sizes: `512KiB`, `32MiB`, `1GB`, or a number of bytes.
- *live* settings change with a reload (SIGHUP to a service, or `POST /-/reload` on the admin port); the others need
  a restart. In a process that was started from a terminal SIGHUP says that the terminal was closed, and ends it.
- `kube-collector config check` finds every mistake with its line; `config show` tells where each value comes from.
"""


def schema() -> dict[str, Any]:
    """The JSON schema of a settings file, for completion and checks in editors."""
    made = load.root_model().model_json_schema()
    return {"$schema": SCHEMA_DIALECT, **made, "title": "kube-collector settings"}


def page() -> str:
    """The reference page: one table a section, generated from the models."""
    root = load.root_model()
    plain = [name for name, field in root.model_fields.items() if not shape.models(field.annotation)]
    parts = [_INTRODUCTION, "## At the top\n\n" + _table([((name,), root.model_fields[name]) for name in plain])]
    for name, field in root.model_fields.items():
        for model in shape.models(field.annotation):
            doc = " ".join((model.__doc__ or "").split())
            parts.append(f"## {name}\n\n{doc}\n\n" + _table(list(_leaves(model, (name,)))))
    return "\n".join(parts)


def _leaves(model: shape.Model, path: KeyPath) -> Iterator[tuple[KeyPath, FieldInfo]]:
    for here, field in shape.walk(model, path):
        if not shape.models(field.annotation):
            yield here, field


def _table(rows: list[tuple[KeyPath, FieldInfo]]) -> str:
    lines = ["| key | type | default | what it does | change |", "|---|---|---|---|---|"]
    for path, field in rows:
        change = "live" if fields.is_live(field) else "restart"
        what = " ".join((field.description or "").split())
        cells = (f"`{_dotted(path)}`", _type(field), _default(field), what, change)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _dotted(path: KeyPath) -> str:
    return origins.dotted(path).replace(".[]", "[]").replace(".{}", ".NAME")


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True) if not _needs_data(field) else PydanticUndefined
    if value is PydanticUndefined:
        return "(required)"
    if value is None or value == "":
        return "(none)" if value is None else "(empty)"
    return f"`{effective.written(effective.plain(value, fields.unit_of(field)))}`"


def _needs_data(field: FieldInfo) -> bool:
    return field.default is PydanticUndefined and field.default_factory is None


def _type(field: FieldInfo) -> str:
    if shape.is_secret(field):
        return "secret"
    unit = fields.unit_of(field)
    name = unit.name if unit else _name(field.annotation)
    return f"list of {name}" if unit and typing.get_origin(field.annotation) in {list, tuple} else name


_WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false"}


def _name(annotation: Any) -> str:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _name(arguments[0])
    if origin in {typing.Union, types.UnionType}:
        return " or ".join(_name(part) for part in arguments if part is not type(None))
    if origin is typing.Literal:
        return ", ".join(f"`{value}`" for value in arguments)
    if origin in {list, tuple, set, frozenset}:
        return f"list of {_name(arguments[0])}"
    if origin is dict:
        return f"mapping to {_name(arguments[1])}"
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return ", ".join(f"`{member.value}`" for member in annotation)
    if isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel):
        return "mapping"
    if isinstance(annotation, type) and annotation.__name__ == "Path":
        return "path"
    return _WORDS.get(annotation, getattr(annotation, "__name__", str(annotation)))
