"""A snapshot for each session that stands over all of them, kept in step with a mirror.

What a mirror's journal names is put in its place; another queue, or a name that two groups have, builds all anew.
"""

from __future__ import annotations

from scheduler_core.cache.changes import Changed
from scheduler_core.cache.mirror import Mirror, View
from scheduler_core.model.snapshot import Snapshot
from scheduler_core.model.standing import Standing


class Following:
    """The snapshots of one side of a mirror; of another mirror it begins anew."""

    def __init__(self, view: View) -> None:
        self.view: View = view
        self.standing: Standing | None = None
        self._mirror: Mirror | None = None
        self._seen = 0
        self._twice = False

    def snapshot(self, mirror: Mirror) -> Snapshot:
        """The cluster as the mirror shows it now, for one session; the session before on it is over."""
        changed = mirror.since(self.view, self._seen) if mirror is self._mirror else None
        before, self._twice = self._twice, mirror.given_twice(self.view)
        if self.standing is None:
            self.standing = Standing(mirror.facts(self.view))
        elif changed is None or changed.queues or before or self._twice:
            self.standing.replace(mirror.facts(self.view))
        else:
            if changed.nodes:
                self.standing.put_nodes(mirror.nodes())
            self._put(self.standing, mirror, changed)
        self._mirror, self._seen = mirror, mirror.end(self.view)
        return self.standing.snapshot()

    def _put(self, standing: Standing, mirror: Mirror, changed: Changed) -> None:
        for uid in changed.pods:
            pod = mirror.pod_in(self.view, uid)
            if pod is None:
                standing.drop_pods((uid,))
            else:
                standing.put(pod)
        for name in changed.groups:
            groups = mirror.groups_named(self.view, name)
            if groups:
                standing.put(groups[0])
            else:
                standing.drop_groups((name,))
