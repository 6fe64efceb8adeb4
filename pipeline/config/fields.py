"""What a settings model is made of: the section base class and the field types with a unit.

    class Settings(fields.Section):
        \"\"\"What the section is for, one sentence.\"\"\"

        endpoint: str = "127.0.0.1:8030"
        \"\"\"Where it is; what happens without it; how to turn it off.\"\"\"
        load_interval: fields.Duration = 5.0
        \"\"\"Longest time a row waits for its load.\"\"\"
        level: Annotated[str, fields.LIVE] = "info"
        password: fields.Secret | None = None

The sentence under a field is its documentation in the reference page and in the JSON schema. Users write durations in
Go's form and sizes with a unit; code gets plain numbers and gives them as defaults.
"""

from __future__ import annotations

import typing
from pathlib import Path
from typing import Annotated, Any, Final

import pydantic
from pydantic.fields import FieldInfo

from pipeline.config import sizes
from pipeline.records import sla


class Section(pydantic.BaseModel):
    """Base of every group of settings: closed, unchangeable, documented by the strings under its fields."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Live:
    """Marks a field that a reload changes in a running process; all others need a restart."""


LIVE: Final = Live()


class Unit:
    """What the numbers of a field count, and how a person writes them."""

    def __init__(self, name: str, show: Any) -> None:
        self.name = name
        self.show = show


def unit_of(field: FieldInfo) -> Unit | None:
    """The unit of a field, also where it may be absent (`Duration | None`) or a list."""
    marks = [*field.metadata, *_marks(field.annotation)]
    return next((mark for mark in marks if isinstance(mark, Unit)), None)


def is_live(field: FieldInfo) -> bool:
    """Whether a reload changes the field in a running process."""
    return any(isinstance(mark, Live) for mark in field.metadata)


def _marks(annotation: Any) -> list[Any]:
    """Everything that `Annotated` says anywhere inside."""
    if typing.get_origin(annotation) is typing.Annotated:
        inner, *marks = typing.get_args(annotation)
        return marks + _marks(inner)
    return [mark for part in typing.get_args(annotation) for mark in _marks(part)]


def from_user(info: pydantic.ValidationInfo) -> bool:
    """Whether the value was written by a person (`load` says so), not given by code that knows the unit."""
    return bool(info.context and info.context.get("from_user"))


def _millis(value: object, info: pydantic.ValidationInfo, *, per_unit: int) -> float:
    """Milliseconds of a duration; numbers from code are in the field's own unit."""
    if isinstance(value, str):
        try:
            return sla.parse_duration_ms(value)
        except ValueError as error:
            raise ValueError(f"{error} (write a duration such as 500ms, 30s or 1h30m)") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a duration such as 500ms, 30s or 1h30m")  # noqa: TRY004  pydantic wants ValueError
    if value and from_user(info):
        raise ValueError(f"{value} has no unit (write a duration such as 500ms, 30s or 1h30m)")
    return value * per_unit


def _not_negative(millis: float) -> float:
    if millis < 0:
        raise ValueError("must not be negative")
    return millis


def _seconds(value: object, info: pydantic.ValidationInfo) -> float:
    return _not_negative(_millis(value, info, per_unit=1000)) / 1000


def _whole_millis(value: object, info: pydantic.ValidationInfo) -> int:
    return round(_not_negative(_millis(value, info, per_unit=1)))


def _bytes(value: object) -> int:
    if isinstance(value, str):
        return sizes.parse_bytes(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("must be a size such as 512KiB, 32MiB or 1GiB")
    return value


class SecretText(pydantic.Secret[str]):
    """A text that prints as `***` wherever it is printed; `get_secret_value()` is the one way to it."""

    def _display(self) -> str:
        return "***" if self.get_secret_value() else ""


def _from_mounted_file(value: object) -> object:
    """`file:/run/secrets/token` is that file's text without its last newline."""
    if not isinstance(value, str) or not value.startswith("file:"):
        return value
    path = Path(value.removeprefix("file:"))
    try:
        return path.read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as error:
        raise ValueError(f"secret file {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"secret file {path} is not UTF-8 text") from None


_DURATION_SCHEMA = {"type": "string", "pattern": r"^\+?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$|^\$\{"}
_SIZE_SCHEMA = {
    "anyOf": [
        {"type": "integer", "minimum": 0},
        {"type": "string", "pattern": r"^\d+(\.\d+)? ?([KMGT]i?)?B?$|^\$\{"},
    ]
}

Duration = Annotated[
    float,
    pydantic.BeforeValidator(_seconds),
    Unit("duration", lambda seconds: sla.format_duration_ms(round(seconds * 1000))),
    pydantic.WithJsonSchema(_DURATION_SCHEMA),
]
"""Written `1h30m`, `500ms`; seconds in code."""

DurationMs = Annotated[
    int,
    pydantic.BeforeValidator(_whole_millis),
    Unit("duration", sla.format_duration_ms),
    pydantic.WithJsonSchema(_DURATION_SCHEMA),
]
"""Written `1h30m`, `500ms`; whole milliseconds in code."""

Bytes = Annotated[
    int,
    pydantic.BeforeValidator(_bytes),
    Unit("size", sizes.format_bytes),
    pydantic.WithJsonSchema(_SIZE_SCHEMA),
]
"""Written `32MiB`, `1GB` or a plain number of bytes; bytes in code."""

Secret = Annotated[
    SecretText,
    pydantic.BeforeValidator(_from_mounted_file),
    pydantic.WithJsonSchema({"type": "string", "format": "password", "writeOnly": True}),
]
"""A secret: written itself, as `${VAR}` or as `file:PATH`; printed as `***`."""
