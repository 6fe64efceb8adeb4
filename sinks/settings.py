"""What can be set about the sinks. Where Doris is stands in the section `doris`, since readers need it too."""

from __future__ import annotations

from typing import Annotated

import pydantic

from pipeline.config import fields


class Batch(fields.Section):
    """When a load goes out before `doris.load_interval` is over."""

    max_rows: Annotated[int, pydantic.Field(ge=1, le=1_000_000)] = 50_000
    """Most rows of a load."""
    max_bytes: Annotated[fields.Bytes, pydantic.Field(ge=1024)] = 32 << 20
    """Most bytes of a load; the loader's memory is a small multiple of it."""


class Settings(fields.Section):
    """From rows to the warehouse."""

    batch: Batch = pydantic.Field(default_factory=Batch)
