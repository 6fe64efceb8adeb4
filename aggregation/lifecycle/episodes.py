"""Episodes: when a wait begins, ends, turns out to be none, or has to be taken up again.

The first begins with the earliest creation among job object, groups and pods (rule P3), and ends when the minimum is
placed, or is lowered to what is placed. A later one begins at the loss that takes the job below its minimum, or when it
is suspended or evicted (rule P12). A job that ends while it waits has cancelled the wait; a later wait in which no pod
was placed yet was then none at all, only the last pods going, and is removed.
"""

from __future__ import annotations

from aggregation.lifecycle import counts, minimum
from aggregation.lifecycle.groups import OUTSIDE
from aggregation.lifecycle.sight import Noted, Sight
from aggregation.lifecycle.state import Episode, JobState

WAITING = "waiting"
SCHEDULED = "scheduled"
CANCELLED = "cancelled"
_ENDS_WITH_ITS_PODS = ("PodGroup",)


def follow(state: JobState, noted: Noted, sight: Sight) -> int | None:
    """Brings the episodes up to date after a record that changed something.

    Returns the number of an episode that turned out to be none and was taken out.
    """
    if (not noted.pod or state.least is None) and (finished(state) is None or state.episode is None):
        minimum.look(state)
    least = state.least
    episode = state.episode
    if episode is None:
        if not _someone_waits(state) and not _came_unseen(state, sight):
            return None
        episode = _first(state, noted, sight, least)
    if _of_current(state, episode, noted, sight, least):
        state.episodes.pop()
        return episode.number
    _next(state, noted, sight, least)
    return None


def assume(state: JobState, now: int) -> bool:
    """The job's object has not come for long: whether its episode ended with a minimum of 1."""
    episode = state.episode
    if episode is None or not episode.open or state.least is not None or not state.counts.placed:
        return False
    _end(state, episode, 1, now)
    episode.assumed = True
    return True


def finished(state: JobState) -> tuple[str, int] | None:
    """How and when the job ended, if it has; a group without a job ends with its pods."""
    own = state.own
    if own is not None and own.done:
        return own.done, own.done_ms
    pods = state.counts
    if state.job.kind in _ENDS_WITH_ITS_PODS and pods.alive == pods.succeeded and pods.succeeded + pods.failed > 0:
        return "completed", state.seen_ms
    return None


def _someone_waits(state: JobState) -> bool:
    if finished(state) is not None:
        return False
    if state.own is not None or state.groups or state.objects:
        return True
    if any(not one.finished for one in state.admissions.values()):
        return True
    return state.counts.alive > state.counts.succeeded


def _came_unseen(state: JobState, sight: Sight) -> bool:
    """Whether it began since the last look at the cluster: then it waited, even if all of it is over by now."""
    since, created = sight.unseen_since, state.created_ms
    return since is not None and created is not None and created >= since


def _first(state: JobState, noted: Noted, sight: Sight, least: int | None) -> Episode:
    start = _created(state)
    episode = Episode(1, start, sight.at_ms)
    episode.minimum = least
    state.episodes.append(episode)
    told = noted.lost_ms is not None and noted.lost_ms > start
    if told or _reported(state, least):
        # Its first wait was over before anybody looked: that there was one is known, and its pods may tell more.
        episode.told_until_ms = None if told else sight.at_ms
        _close(episode, SCHEDULED, start)
    return episode


def _created(state: JobState) -> int:
    """Rule P3; a Workload of Kueue is no beginning, but tells of one while nothing else is there."""
    if state.created_ms is not None:
        return state.created_ms
    return min((one.created_ms for one in state.admissions.values()), default=state.started_ms)


def _of_current(state: JobState, episode: Episode, noted: Noted, sight: Sight, least: int | None) -> bool:
    """Whether the episode was none."""
    if episode.end_ms is None:
        if episode.number == 1 or episode.vanished_ms is not None:
            _start_again(state, episode)
        if episode.minimum != least:
            _ask_for(episode, least, sight)
        _note_placed(state, episode, noted)
        if least is not None and not _held(state):
            _end(state, episode, least, sight.at_ms)
        end = finished(state)
        if end is not None and episode.end_ms is None:
            return _job_ended(episode, *end, sight)
    elif episode.told_until_ms is not None:
        _told_better(state, episode, episode.told_until_ms)
    elif episode.phase == CANCELLED:
        if sight.unseen_since is not None:  # the job's end was seen while its pods were not: they are listed only now
            _told_better(state, episode, episode.end_ms)
    elif episode.phase == SCHEDULED:
        if episode.assumed and least is not None:
            _take_up(state, episode, least)
        elif noted.corrected_ms is not None and _decides(state, episode, noted.pod, noted.corrected_ms):
            _end(state, episode, episode.minimum or 1, sight.at_ms)
    if episode.running_ms is None and episode.phase == SCHEDULED:
        _note_running(state, episode)
    return False


def _ask_for(episode: Episode, least: int | None, sight: Sight) -> None:
    """The minimum is another one, or known at last."""
    if least is not None and episode.minimum is not None and least < episode.minimum:
        episode.lowered_ms = sight.at_ms
    episode.minimum, episode.dirty = least, True


def _start_again(state: JobState, episode: Episode) -> None:
    """Objects that come later may tell of another beginning."""
    if episode.number == 1:
        start = _created(state)
    else:
        since, until = episode.vanished_ms or 0, episode.start_ms
        made = [pod.created_ms for pod in state.pods.values() if since < pod.created_ms < until]
        start = max(min(made, default=until), state.episodes[-2].end_ms or 0)
    if start != episode.start_ms:
        first = min(start, episode.start_ms)
        episode.start_ms = start
        episode.dirty = episode.unarmed = True
        if episode.segments:
            episode.changed_ms = first


def _note_placed(state: JobState, episode: Episode, noted: Noted) -> None:
    pod = state.pods.get(noted.pod)
    if pod is None or pod.placed_ms is None or (episode.number > 1 and pod.placed_ms < episode.start_ms):
        return
    first = max(pod.placed_ms, episode.start_ms)
    if episode.first_task_ms is None or first < episode.first_task_ms:
        episode.first_task_ms, episode.dirty = first, True


def _held(state: JobState) -> bool:
    """Whether the job is kept out although its pods may still be there."""
    own = state.own
    if own is not None and own.suspended:
        return True
    return any(one.evicted and not one.admitted for one in state.admissions.values())


def _reported(state: JobState, least: int | None) -> bool:
    """Whether status says that the minimum runs, of a job whose pods nobody saw."""
    if state.tasks:
        return False
    if any(group.volcano and group.phase not in (*OUTSIDE, "Inqueue", "Unknown") for group in state.groups.values()):
        return True
    own = state.own
    return own is not None and least is not None and own.ready >= least


def _end(state: JobState, episode: Episode, least: int, at_ms: int) -> None:
    placed_ms = _placed_at(state, episode, least)
    if placed_ms is not None:
        _close(episode, SCHEDULED, placed_ms)
    elif episode.end_ms is None and _reported(state, least):
        episode.told_until_ms = at_ms
        _close(episode, SCHEDULED, max(at_ms, episode.start_ms))


def _told_better(state: JobState, episode: Episode, until_ms: int) -> None:
    """Pods come to light that a status told of, if only as failed by now. Later ones are replacements and say nothing
    of this wait."""
    times = sorted(
        pod.placed_ms
        for pod in state.pods.values()
        if pod.placed_ms is not None and (episode.number == 1 or pod.placed_ms >= episode.start_ms)
    )
    needed = max((episode.minimum or 1) - state.counts.succeeded_gone, 1)
    if needed <= len(times) and times[needed - 1] <= until_ms:
        episode.told_until_ms = None
        _close(episode, SCHEDULED, max(times[needed - 1], episode.start_ms))


def _placed_at(state: JobState, episode: Episode, least: int) -> int | None:
    """When the minimum was placed, as its pods tell; None if it is not."""
    if state.counts.placed < least:
        return None
    times = counts.placed_times(state)
    needed = least - state.counts.succeeded_gone
    return max(times[needed - 1] if 0 < needed <= len(times) else 0, episode.start_ms, episode.lowered_ms)


def _close(episode: Episode, phase: str, end_ms: int) -> None:
    episode.phase, episode.end_ms, episode.dirty = phase, end_ms, True
    if episode.segments:
        last = episode.segments[-1].from_ms
        episode.changed_ms = min(last, end_ms) if episode.changed_ms is None else min(episode.changed_ms, last, end_ms)


def _job_ended(episode: Episode, how: str, done_ms: int, sight: Sight) -> bool:
    """Whether the episode was none."""
    since = sight.unseen_since
    if (since is None or how == "deleted") and episode.number > 1 and _was_none(episode, how):
        return True
    if since is not None:
        # What it did since the last look its pods may still tell; a job that completed was placed.
        episode.told_until_ms = done_ms
        if how == "completed":
            _close(episode, SCHEDULED, max(since, episode.start_ms))
            return False
    _close(episode, CANCELLED, max(done_ms, episode.start_ms))
    return False


def _was_none(episode: Episode, how: str) -> bool:
    if how == "deleted":
        return not episode.renewed and episode.cause in ("deleted", "suspended")
    return episode.first_task_ms is None


def _decides(state: JobState, episode: Episode, uid: str, was_ms: int) -> bool:
    """Whether a pod that was placed at another time than was thought moves the end."""
    now_ms, end = state.pods[uid].placed_ms, episode.end_ms
    if now_ms is None or end is None or state.counts.placed < (episode.minimum or 1):
        return False
    return was_ms == end or (was_ms <= end) != (now_ms <= end)


def _take_up(state: JobState, episode: Episode, least: int) -> None:
    episode.assumed = False
    episode.minimum, episode.dirty = least, True
    if state.counts.placed < least:
        episode.phase, episode.end_ms = WAITING, None
        episode.changed_ms = episode.segments[-1].from_ms if episode.segments else episode.start_ms


def _note_running(state: JobState, episode: Episode) -> None:
    least = episode.minimum or 1
    if state.counts.running < least:
        return
    times = counts.running_times(state)
    needed = least - state.counts.succeeded_gone
    if 0 < needed <= len(times) and episode.end_ms is not None:
        episode.running_ms, episode.dirty = max(times[needed - 1], episode.end_ms), True


def _next(state: JobState, noted: Noted, sight: Sight, least: int | None) -> None:
    episode = state.episode
    if episode is None or episode.end_ms is None:
        return
    below = state.counts.placed < (least or episode.minimum or 1)
    if noted.lost_ms is not None and (below or _held(state)):
        state.loss_ms, state.loss_why = noted.lost_ms, noted.lost_why
    elif not (below and state.loss_ms > episode.end_ms and state.counts.alive > state.counts.placed):
        return
    if finished(state) is not None:
        return  # a group that lost its last pod waits only if pods are made again
    later = Episode(episode.number + 1, max(state.loss_ms, episode.end_ms), sight.at_ms, cause=state.loss_why)
    later.minimum, later.vanished_ms = least, noted.vanished_since
    state.episodes.append(later)
    for old in state.episodes[-3:-2]:
        old.segments = []  # its rows are written, and nothing reaches back that far
