"""Node."""

from __future__ import annotations

import msgspec

from pipeline.records.quantity import Quantity
from pipeline.records.shapes.base import Condition, Part, Shape


class Taint(Part):
    key: str = ""
    value: str | None = None
    effect: str = ""


class NodeSpec(Part):
    unschedulable: bool | None = None
    taints: list[Taint] | None = None


class NodeStatus(Part):
    """Heartbeat times of conditions are not kept: they move every few seconds and say nothing."""

    allocatable: dict[str, Quantity] | None = None
    capacity: dict[str, Quantity] | None = None
    conditions: list[Condition] | None = None


class Node(Shape):
    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)

    @property
    def ready(self) -> str:
        """Status of the Ready condition: True, False or Unknown; Unknown if there is none."""
        for condition in self.status.conditions or ():
            if condition.type == "Ready":
                return condition.status
        return "Unknown"
