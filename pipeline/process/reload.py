"""New settings for a running process: what is marked live is taken over, the rest is named as waiting for a restart."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import pydantic

from pipeline.config import fields, origins
from pipeline.config.origins import KeyPath

M = TypeVar("M", bound=pydantic.BaseModel)


class Change(NamedTuple):
    """Keys that were taken over, and keys whose new value needs a restart."""

    taken: list[str]
    waiting: list[str]


def take_over(old: M, new: M) -> tuple[M, Change]:
    """The old settings with the live ones of the new, and what differs. Fields of lists count as part of their list."""
    change = Change([], [])
    return _taken_over(old, new, (), change), change


def _taken_over(old: M, new: M, path: KeyPath, change: Change) -> M:
    updates: dict[str, object] = {}
    for name, field in type(old).model_fields.items():
        before, after = getattr(old, name), getattr(new, name)
        if before == after:
            continue
        here = (*path, name)
        if isinstance(before, pydantic.BaseModel) and type(before) is type(after) and not fields.is_live(field):
            updates[name] = _taken_over(before, after, here, change)
        elif fields.is_live(field):
            updates[name] = after
            change.taken.append(origins.dotted(here))
        else:
            change.waiting.append(origins.dotted(here))
    return old.model_copy(update=updates)
