"""The body of `figures.v1`: what queues have and want, and what nodes have free, from a minute on.

A row is told when it differs from what was told last, and everything once at the begin of each hour: so the rows of an
hour say all of it, each from its minute until the next of the same queue or node. One record carries many rows.
"""

from __future__ import annotations

import msgspec


class QueueFigures(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A queue and a resource, in its whole unit (cores, bytes, devices). `tenant` is the topmost of the queue's parents,
    else the queue itself; `quota` what the policy says it deserves, `limit` its ceiling; None where it has none.
    `requested` counts what it uses and what waits, `waiting` its jobs with a pod that waits.
    """

    queue: str
    resource: str
    tenant: str = ""
    quota: float | None = None
    limit: float | None = None
    used: float = 0.0
    requested: float = 0.0
    waiting: int = 0


class NodeFigures(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A node. `open`: ready, and not cordoned. One that is gone has nothing and is not open."""

    node: str
    pool: str = ""
    open: bool = False
    gpus: int = 0
    gpus_free: int = 0
    cpus_milli: int = 0
    cpus_free_milli: int = 0
    memory_bytes: int = 0
    memory_free_bytes: int = 0
    pods: int = 0


class Figures(msgspec.Struct, kw_only=True, omit_defaults=True, gc=False):
    """Rows that hold from `minute_ms` (log time, a whole minute) on."""

    minute_ms: int
    queues: tuple[QueueFigures, ...] = ()
    nodes: tuple[NodeFigures, ...] = ()
