"""Pods of other schedulers, explained by kube-scheduler's rules.

Nobody is placed by these rules. Of a pod that its scheduler has refused and that would now fit somewhere they only say
that there is a place (a `bind` without a node): it waits for its scheduler's next try.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from pipeline.records import reasons
from pipeline.records.decisions import Decision
from scheduler_core import foreign
from scheduler_core.cache.mirror import OTHERS, Mirror


def decide(mirror: Mirror, session_ms: int) -> list[Decision]:
    """A decider; see above."""
    return list(_decide(mirror, session_ms))


def _decide(mirror: Mirror, session_ms: int) -> Iterator[Decision]:
    tried = {f"{pod.facts.namespace}/{pod.facts.name}" for pod in mirror.waiting(OTHERS) if pod.tried}
    for each in foreign.decide(mirror, session_ms):
        if each.kind != "attribution" or each.reason != reasons.SCHEDULER_BACKLOG:
            yield each
        elif each.task in tried:
            yield msgspec.structs.replace(each, kind="bind", reason=None, detail=None)
