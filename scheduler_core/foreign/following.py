"""One mirror explained session after session: the cluster stands, and only what has changed is taken in."""

from __future__ import annotations

from pipeline.records.decisions import Decision
from scheduler_core.cache.mirror import OTHERS, Mirror
from scheduler_core.foreign import world
from scheduler_core.foreign.cluster import Cluster
from scheduler_core.foreign.explaining import Explaining
from scheduler_core.foreign.world import World


class Explainer:
    """The decisions on the pods of a mirror that wait for other schedulers than Volcano; of another mirror it begins anew."""

    def __init__(self) -> None:
        self.builds = 0
        self._mirror: Mirror | None = None
        self._seen = 0
        self.explaining: Explaining | None = None

    def decide(self, mirror: Mirror, session_ms: int) -> list[Decision]:
        """One attribution for each pod that waits, in the order of their names; none while nothing waits."""
        known = world.of_mirror(mirror)
        if not known.waiting:
            return []
        explaining = self.explaining
        if explaining is None or mirror is not self._mirror or not self._follow(explaining, mirror, known):
            self.builds += 1
            explaining = self.explaining = Explaining(Cluster(known))
        self._mirror, self._seen = mirror, mirror.end(OTHERS)
        return explaining.at(session_ms)

    def _follow(self, explaining: Explaining, mirror: Mirror, known: World) -> bool:
        """Takes in what has changed; False if all must be made anew."""
        changed = mirror.since(OTHERS, self._seen)
        if changed is None or changed.nodes:
            return False
        if changed.beside:
            explaining.forget()
        return explaining.cluster.follow(known, {uid: mirror.pod_in(OTHERS, uid) for uid in sorted(changed.pods)})


def decide(mirror: Mirror, session_ms: int) -> list[Decision]:
    """The decisions on what a mirror knows, at one time of the log."""
    return Explainer().decide(mirror, session_ms)
