"""Groups by what others know them by: their name, the job above them, their queue.

A name can have two groups for a moment: the old one's end may be told after the new one's beginning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from scheduler_core.model.facts import GroupFacts


class Groups:
    """An index over the groups of one API."""

    def __init__(self, groups: Iterable[tuple[str, GroupFacts]] = ()) -> None:
        self.twice = 0
        """Names that more than one group has."""
        self.queues: Counter[str] = Counter()
        """Groups by the queue that they name."""
        self._by_name: dict[str, set[str]] = {}
        self._by_job: dict[str, set[str]] = {}
        for uid, facts in groups:
            self.put(uid, None, facts)

    def put(self, uid: str, before: GroupFacts | None, now: GroupFacts | None) -> None:
        """A group was so, and is so now; None: it is not there."""
        if before is not None:
            self._move(self._by_name, name_of(before), uid, come=False)
            self.queues[before.queue] -= 1
            if not self.queues[before.queue]:
                del self.queues[before.queue]
            if before.job is not None:
                self._move(self._by_job, before.job.uid, uid, come=False)
        if now is not None:
            self._move(self._by_name, name_of(now), uid, come=True)
            self.queues[now.queue] += 1
            if now.job is not None:
                self._move(self._by_job, now.job.uid, uid, come=True)

    def named(self, name: str) -> set[str]:
        """Uids of the groups with this namespaced name."""
        return self._by_name.get(name, set())

    def of_job(self, job_uid: str) -> set[str]:
        """Uids of the groups of a job."""
        return self._by_job.get(job_uid, set())

    def _move(self, index: dict[str, set[str]], key: str, uid: str, *, come: bool) -> None:
        uids = index.setdefault(key, set())
        before = len(uids)
        if come:
            uids.add(uid)
        else:
            uids.discard(uid)
        if index is self._by_name:
            self.twice += (len(uids) > 1) - (before > 1)
        if not uids:
            del index[key]


def name_of(facts: GroupFacts) -> str:
    return f"{facts.namespace}/{facts.name}"
