"""What a spool holds, at a glance: sizes, log time, readers and their lag, watches. Reads no records."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec

from pipeline.config.places import Places
from pipeline.log import Position, layout, lock, readers, scan


class ReaderLag(msgspec.Struct, frozen=True):
    """A registered reader. `behind_bytes` counts data it has not acked; None where its ack cannot be read."""

    name: str
    position: Position | None
    behind_bytes: int | None


class LogSurvey(msgspec.Struct, frozen=True):
    """One log. `first_ms`, `last_ms`: log time at its first and last line."""

    directory: str
    running: bool
    segments: int
    total_bytes: int
    first_ms: int | None
    last_ms: int | None
    readers: tuple[ReaderLag, ...]


class ClusterSurvey(msgspec.Struct, frozen=True):
    """One cluster in the checkpoint. `watches`: version by key."""

    name: str
    uid: str | None
    watches: dict[str, str]
    known: dict[str, int]
    gaps: tuple[str, ...]


class Survey(msgspec.Struct, frozen=True):
    """A whole spool."""

    running: bool
    records: LogSurvey
    dead_letters: LogSurvey
    clusters: tuple[ClusterSurvey, ...]


def survey(places: Places) -> Survey:
    """Look at a spool, also while it is written."""
    return Survey(
        lock.held(places.spool / layout.LOCK),
        log_survey(places.records),
        log_survey(places.dead_letters),
        clusters(places.collector_db),
    )


def log_survey(directory: Path) -> LogSurvey:
    segments = layout.segments(directory)
    acks = readers.read_all(directory, Position)
    first_ms, last_ms = _times(directory, [segment.number for segment in segments])
    return LogSurvey(
        directory=str(directory),
        running=lock.held(directory / layout.LOCK),
        segments=len(segments),
        total_bytes=sum(segment.total_bytes for segment in segments),
        first_ms=first_ms,
        last_ms=last_ms,
        readers=tuple(ReaderLag(name, ack, _behind(segments, ack)) for name, ack in acks.items()),
    )


def clusters(path: Path) -> tuple[ClusterSurvey, ...]:
    """The clusters of a checkpoint; none when there is no file."""
    if not path.exists():
        return ()
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
        uids = dict(db.execute("SELECT name, uid FROM cluster"))
        names = {*uids, *(name for (name,) in db.execute("SELECT DISTINCT cluster FROM watch"))}
        return tuple(_cluster(db, name, uids.get(name)) for name in sorted(names))


def _cluster(db: sqlite3.Connection, name: str, uid: str | None) -> ClusterSurvey:
    watches = db.execute("SELECT key, version FROM watch WHERE cluster = ? ORDER BY key", (name,))
    known = db.execute("SELECT key, count(*) FROM known WHERE cluster = ? GROUP BY key", (name,))
    gaps = db.execute("SELECT key FROM gap WHERE cluster = ? ORDER BY key", (name,))
    return ClusterSurvey(name, uid, dict(watches), dict(known), tuple(key for (key,) in gaps))


def _behind(segments: list[layout.Segment], ack: Position | None) -> int | None:
    if ack is None:
        return None
    after = sum(segment.data_bytes for segment in segments if segment.number > ack.segment)
    own = sum(segment.data_bytes - ack.offset for segment in segments if segment.number == ack.segment)
    return after + max(0, own)


def _times(directory: Path, numbers: list[int]) -> tuple[int | None, int | None]:
    spans = (scan.span(directory, number, closed=False) for number in numbers)
    backwards = (scan.span(directory, number, closed=False) for number in reversed(numbers))
    first = next((span[0] for span in spans if span), None)
    last = next((span[1] for span in backwards if span), None)
    return first, last
