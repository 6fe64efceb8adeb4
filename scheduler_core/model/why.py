"""Why something was refused: one shape for all who refuse (votes, quotas, gangs, nodes)."""

from __future__ import annotations

from typing import Literal

import msgspec

Bound = Literal["", "capability", "capability, shared", "nodes", "nodes, shared", "deserved", "above"]


class Over(msgspec.Struct, frozen=True, gc=False):
    """A resource of which a limit leaves too little, in its whole unit: how much is `over` it, of what was `asked`, and how
    much `others` hold or may still take. `over` is rounded up to the smallest amount that is counted.

    `bound` is what makes the limit: the queue's own capability, the nodes that there are (`shared`: with other queues), what
    the queue deserves, or what queues above it leave. It is empty where more of that alone would not do.
    """

    resource: str
    over: float
    asked: float
    others: float
    bound: Bound = ""


class Why(msgspec.Struct, frozen=True, gc=False):
    """A refusal: a reason of `pipeline.records.reasons` with its detail and resource, and the words of the refuser.

    `asked`, `used` and `limit` are amounts of `resource` in its whole unit (cores, bytes, devices) where one resource
    was short. `plugin` is who refused. `over` has every resource that a limit of `queue` (empty: of the whole cluster) leaves
    too little of.
    """

    reason: str
    detail: str = ""
    resource: str = ""
    message: str = ""
    plugin: str = ""
    asked: float | None = None
    used: float | None = None
    limit: float | None = None
    queue: str = ""
    over: tuple[Over, ...] = ()


class Misconfigured(msgspec.Struct, frozen=True, gc=False):
    """Input that cannot be meant as it stands: kind and name of the object, what is wrong with it, what was done."""

    kind: str
    name: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}: {self.what}"
