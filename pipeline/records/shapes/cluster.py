"""PriorityClass and Namespace."""

from __future__ import annotations

from pipeline.records.shapes.base import Shape


class PriorityClass(Shape):
    value: int | None = None
    global_default: bool | None = None
    preemption_policy: str | None = None


class Namespace(Shape):
    """Its labels name a tenant."""
