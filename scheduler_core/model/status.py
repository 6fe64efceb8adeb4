"""The states of a task, as small integers, and the groups of states that rules speak of.

Allocated and Pipelined exist only inside a session: a place was promised, on free resources or on resources that are
being released. Terminated tasks (Succeeded, Failed) hold nothing on a node.
"""

from __future__ import annotations

from typing import Final

PENDING: Final = 0
ALLOCATED: Final = 1
PIPELINED: Final = 2
BINDING: Final = 3
BOUND: Final = 4
RUNNING: Final = 5
RELEASING: Final = 6
SUCCEEDED: Final = 7
FAILED: Final = 8
UNKNOWN: Final = 9

NAMES: Final = (
    "Pending", "Allocated", "Pipelined", "Binding", "Bound", "Running", "Releasing", "Succeeded", "Failed", "Unknown",
)  # fmt: skip

HOLDING: Final = (ALLOCATED, BINDING, BOUND, RUNNING)
"""Allocated in Volcano's sense: the task's request counts as used by its job and queue."""
READY: Final = (*HOLDING, SUCCEEDED)
VALID: Final = (*READY, PIPELINED, PENDING)
ON_NODE: Final = (*HOLDING, RELEASING)
"""What takes room on a node when a session opens."""
PREEMPTABLE: Final = (RUNNING, BOUND)
COMPLETED: Final = (SUCCEEDED, FAILED)


def named(name: str) -> int:
    """The state of this name. Raises ValueError when there is none."""
    return NAMES.index(name)


IS_HOLDING: Final = tuple(state in HOLDING for state in range(len(NAMES)))
IS_READY: Final = tuple(state in READY for state in range(len(NAMES)))
"""The groups as tables, by state."""
