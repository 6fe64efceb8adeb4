"""What the rows of an episode are made of, worked out once for all tables."""

from __future__ import annotations

from typing import Any, NamedTuple

from aggregation.attribution import segments
from aggregation.attribution.segments import Stretch
from aggregation.lifecycle.state import Episode, JobState
from aggregation.rollups import identity, leading
from aggregation.rollups.leading import Led


class Draft(NamedTuple):
    """An episode at log time `now`. `shared`: the columns that all its rows have."""

    state: JobState
    episode: Episode
    shared: dict[str, Any]
    stretches: list[Stretch]
    led: Led
    now: int


def of(state: JobState, episode: Episode, now: int) -> Draft:
    """Everything that rows of the episode say."""
    stretches = segments.stretches(episode, now)
    return Draft(state, episode, identity.columns(state, episode.number), stretches, leading.of(stretches, now), now)
