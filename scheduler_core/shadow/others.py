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
from scheduler_core.model.policy import Policy


class Others:
    """A decider; see above."""

    due_ms: int | None = None

    def __init__(self) -> None:
        self.explainer = foreign.Explainer()

    def adopt(self, policy: Policy) -> None:
        """Nothing changes: kube-scheduler's rules are always the same."""

    def __call__(self, mirror: Mirror, session_ms: int) -> list[Decision]:
        return list(self._decide(mirror, session_ms))

    def _decide(self, mirror: Mirror, session_ms: int) -> Iterator[Decision]:
        tried: set[str] | None = None
        for each in self.explainer.decide(mirror, session_ms):
            if each.kind != "attribution" or each.reason != reasons.SCHEDULER_BACKLOG:
                yield each
                continue
            if tried is None:
                tried = {f"{pod.facts.namespace}/{pod.facts.name}" for pod in mirror.waiting(OTHERS) if pod.tried}
            if each.task in tried:
                yield msgspec.structs.replace(each, kind="bind", reason=None, detail=None)
