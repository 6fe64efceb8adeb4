"""The actions, one file each, all in the same shape: a function that works on a session until it has nothing left to do.

`ALL` lists them once, by the names that policies use. An action knows the session, never another action or a plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler_core.actions import allocate, backfill, enqueue, preempt, reclaim
from scheduler_core.session.session import Session

ALL: Mapping[str, Callable[[Session], None]] = {
    "enqueue": enqueue.execute,
    "allocate": allocate.execute,
    "backfill": backfill.execute,
    "preempt": preempt.execute,
    "reclaim": reclaim.execute,
}

ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "enqueue": (),
    "allocate": ("predicateErrorCacheEnable", "gateRemovalWorkerNum"),
    "backfill": ("predicateErrorCacheEnable",),
    "preempt": (
        "predicateErrorCacheEnable", "enableTopologyAwarePreemption", "topologyAwarePreemptWorkerNum",
        "minCandidateNodesPercentage", "minCandidateNodesAbsolute", "maxCandidateNodesAbsolute",
    ),
    "reclaim": ("predicateErrorCacheEnable",),
}  # fmt: skip
"""Arguments that each action takes."""
