"""What judging reads of a pod: less of its first sight than is kept in the log, and of later ones only what can change.

Decoding is a large part of what a record costs, so nothing is decoded that no rule looks at. The fields are those of
`pipeline.records.shapes`, which stays the list of what may be read at all.
"""

from __future__ import annotations

import msgspec

from pipeline.errors import Terminal
from pipeline.records.quantity import Quantity
from pipeline.records.shapes.base import Meta, Part, ResourceNeeds
from pipeline.records.shapes.pod import PodStatus, SchedulingGate, SchedulingGroup


class Leaving(Part):
    """Of a pod's metadata what changes."""

    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None

    @property
    def deleted_ms(self) -> int | None:
        """As `Meta.deleted_ms`."""
        grace_s = self.deletion_grace_period_seconds
        return Meta(deletion_timestamp=self.deletion_timestamp, deletion_grace_period_seconds=grace_s).deleted_ms


class Placing(Part):
    """Of its spec what changes."""

    node_name: str | None = None
    scheduling_gates: list[SchedulingGate] | None = None


class Course(Part):
    """A pod that was seen before."""

    metadata: Leaving = msgspec.field(default_factory=Leaving)
    spec: Placing = msgspec.field(default_factory=Placing)
    status: PodStatus = msgspec.field(default_factory=PodStatus)


class Origin(Leaving):
    creation_timestamp: str | None = None
    annotations: dict[str, str] | None = None


class Asking(Part):
    """Of a container what it asks for."""

    resources: ResourceNeeds | None = None
    restart_policy: str | None = None


class Wish(Placing):
    scheduling_group: SchedulingGroup | None = None
    priority: int | None = None
    priority_class_name: str | None = None
    containers: list[Asking] | None = None
    init_containers: list[Asking] | None = None
    overhead: dict[str, Quantity] | None = None


class Beginning(Part):
    """A pod that is seen for the first time."""

    metadata: Origin = msgspec.field(default_factory=Origin)
    spec: Wish = msgspec.field(default_factory=Wish)
    status: PodStatus = msgspec.field(default_factory=PodStatus)


_course = msgspec.json.Decoder(Course)
_beginning = msgspec.json.Decoder(Beginning)


def course(data: msgspec.Raw) -> Course:
    """A pod's JSON. Raises Terminal, naming the path, when a field has another type than the API's."""
    try:
        return _course.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Terminal(f"Pod: {error}") from error


def beginning(data: msgspec.Raw) -> Beginning:
    """As `course`, of the first sight."""
    try:
        return _beginning.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Terminal(f"Pod: {error}") from error
