"""An episode's reasons, written down as they come: the reason that leads now, blind time, what was before the first look."""

from __future__ import annotations

from aggregation.attribution import leading, segments
from aggregation.lifecycle.sight import Noted, Sight
from aggregation.lifecycle.state import Episode, JobState, Segment
from pipeline.records import reasons


def note(state: JobState, episode: Episode, noted: Noted, sight: Sight) -> None:
    """Notes the reason that leads an episode from now on, or that nobody saw it."""
    if sight.unseen_since is not None:
        segments.blind(episode, sight.unseen_since)
    if episode.end_ms is None:
        segments.point(episode, leading.of(state, sight.at_ms, noted.pod))
    elif _placed_at_first_look(episode, sight):
        episode.start_ms = episode.end_ms
    elif not episode.segments or episode.end_ms <= episode.seen_ms:
        segments.unseen(episode, _before_group(state, episode))
    if episode.segments and episode.start_ms < episode.segments[0].from_ms:
        segments.precede(episode, _before_group(state, episode))


def _placed_at_first_look(episode: Episode, sight: Sight) -> bool:
    """Rule P3: a job that is placed when it is first judged did not wait, unless a list says that nobody was looking."""
    seen_blind = sight.unseen_since is not None or episode.told_until_ms is not None
    return episode.number == 1 and not episode.segments and episode.phase == "scheduled" and not seen_blind


def _before_group(state: JobState, episode: Episode) -> Segment | None:
    """Pods that are older than their group waited for it (rules P3, P13); Kueue makes its Workload when all are there."""
    workload = state.admissions.get(state.job.uid) if state.of_plain_pods else None
    if workload is not None and workload.created_ms > episode.start_ms:
        return Segment(workload.created_ms, reasons.GANG_INCOMPLETE, "members_missing", evidence="count")
    created = [group.created_ms for group in state.groups.values()]
    if not created or not state.names_group or min(created) <= episode.start_ms:
        return None
    return Segment(min(created), reasons.GANG_INCOMPLETE, "group_missing", evidence="count")
