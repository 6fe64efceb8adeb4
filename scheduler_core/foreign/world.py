"""What is known of a cluster and of the pods that wait for schedulers other than Volcano."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scheduler_core.cache.mirror import OTHERS, Mirror
from scheduler_core.cache.reading import ClaimSeen, PodSeen
from scheduler_core.model.facts import ClusterFacts


class World(NamedTuple):
    """`facts` of the cluster with native groups, the pods in `waiting` among its pods. `claims` by namespace and name;
    None: volume claims are not watched, so nothing is concluded from one that is not there."""

    facts: ClusterFacts
    waiting: Sequence[PodSeen]
    claims: Mapping[tuple[str, str], ClaimSeen] | None = None


def of_mirror(mirror: Mirror) -> World:
    """What a mirror knows. (Where it holds no volume claim at all they count as not watched.)"""
    return World(mirror.facts(OTHERS), tuple(mirror.waiting(OTHERS)), mirror.claims or None)
