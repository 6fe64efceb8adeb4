"""What is said of every kind: where it is served, when it is listed, what leads from an object to its job."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from collector.kinds import conventions
from pipeline.records import keys
from pipeline.records.shapes.base import Shape


class Stage(enum.IntEnum):
    """The order of first lists. What a kind is joined with was listed before it, or is not to be had."""

    NODES = 0
    QUEUES = 1
    GROUPS = 2
    JOBS = 3
    PODS = 4
    REST = 5
    EVENTS = 6


class Role(enum.Enum):
    """What an object is to the waiting of jobs."""

    TASK = "task"
    """A pod: its own job if no link leads to another."""
    JOB = "job"
    """A job or group of its own if no link leads further up."""
    FACET = "facet"
    """Part of the job that its links lead to; without one it belongs to no job."""
    LINK = "link"
    """Only followed upwards; no record is written of it."""
    SURROUNDINGS = "surroundings"
    """Nodes, queues, classes, namespaces: of no job."""
    EVENT = "event"


TASK: Final = Role.TASK
JOB: Final = Role.JOB
LINK: Final = Role.LINK
SURROUNDINGS: Final = Role.SURROUNDINGS
EVENT: Final = Role.EVENT
"""The roles by themselves, for what is asked of every frame: `Role.TASK` is a call in Python 3.11."""


class Link(msgspec.Struct, frozen=True, gc=False):
    """A way up from an object: to a uid, or to a name if `uid` is empty.

    `at_once`: the name alone is enough to belong to it (a pod names its group before the group exists); any other
    target of a watched kind is waited for.
    """

    group: str
    kind: str
    namespace: str
    name: str
    uid: str = ""
    at_once: bool = False


class QueueName(msgspec.Struct, frozen=True, gc=False):
    """A queue as objects name it: Volcano's have no namespace, Kueue's LocalQueues have one."""

    name: str
    namespace: str = ""


def owner_links(shape: Shape) -> tuple[Link, ...]:
    """The controller (or the only owner) of an object."""
    meta = shape.metadata
    owners = meta.owner_references
    if not owners:
        return ()
    owner = owners[0] if len(owners) == 1 else meta.controller
    return () if owner is None else (Link(owner.group, owner.kind, meta.namespace, owner.name, owner.uid),)


def named_queue(shape: Shape) -> QueueName | None:
    """The queue that labels or annotations of an object name: Kueue's, else Volcano's."""
    meta = shape.metadata
    local = keys.kueue_queue(meta.labels, meta.annotations)
    if local:
        return QueueName(local, meta.namespace)
    name = keys.volcano_queue(meta.annotations)
    return QueueName(name) if name else None


def no_queue(_: Shape) -> QueueName | None:
    return None


def never(_: Shape) -> bool:
    return False


def nothing(_: Shape) -> object | None:
    return None


@dataclass(frozen=True, slots=True)
class Kind:
    """One watched kind. The functions take its decoded shape (`pipeline.records.shapes`)."""

    group: str
    plural: str
    kind: str
    versions: tuple[str, ...]
    """Versions that the shape reads, best first."""
    stage: Stage
    role: Role
    namespaced: bool = True
    noisy: bool = False
    """An update that changes nothing of what is kept is suppressed and counted."""
    unless: str = ""
    """Name of another kind that shows the same objects: this one is watched only where that one is not served."""
    annotations: frozenset[str] = conventions.KEPT
    """Keys of annotations whose values are kept."""
    links: Callable[[Any], tuple[Link, ...]] = owner_links
    """Ways up to the job, the preferred one first."""
    queue: Callable[[Any], QueueName | None] = no_queue
    waits: Callable[[Any], bool] = never
    """Whether the object may still be waiting, so that facts about it matter."""
    learn: Callable[[Any], object | None] = nothing
    """What other objects' facts need to know of it."""

    @property
    def name(self) -> str:
        """As RBAC and people spell it: `pods`, `jobs.batch`; the key of its watch."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        """As objects spell it, in the best version."""
        return f"{self.group}/{self.versions[0]}" if self.group else self.versions[0]
