"""Which records a person wants to see, and a record as one line for a person."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, get_args

import msgspec

from pipeline.log import Entry, LogReader, scan
from pipeline.log.positions import BEGINNING
from pipeline.records import codec
from pipeline.records.envelope import (
    TYPE_PREFIX,
    DecisionRecord,
    EventRecord,
    FiguresRecord,
    GapRecord,
    ObjectRecord,
    Record,
)
from pipeline.records.jobs import JobRef


def _word(kind: type) -> str:
    tag = str(kind.__struct_config__.tag)  # type: ignore[attr-defined]  # every record is a msgspec struct
    return tag.removeprefix(TYPE_PREFIX).split(".")[0]


TYPES = tuple(_word(kind) for kind in get_args(Record))
"""Types of records as a person writes them."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions that must all hold; None stands for any. `job` is `NAMESPACE/NAME`, `to_ms` is not included."""

    types: frozenset[str] | None = None
    kind: str | None = None
    job: str | None = None
    from_ms: int | None = None
    to_ms: int | None = None

    def takes(self, record: Record) -> bool:
        """Whether a record is wanted."""
        return (
            (self.types is None or type_of(record) in self.types)
            and (self.kind is None or kind_of(record).lower() == self.kind.lower())
            and (self.job is None or self.job == _job_name(record))
            and (self.from_ms is None or record.observedms >= self.from_ms)
            and (self.to_ms is None or record.observedms < self.to_ms)
        )


class Picked(NamedTuple):
    """A record with its line as it stands in the log."""

    record: Record
    line: bytes


class Shown(NamedTuple):
    """A record as one row of a table."""

    observed_ms: int
    type: str
    kind: str
    name: str
    job: str
    what: str


def pick(directory: Path, wanted: Wanted) -> Iterator[Picked]:
    """The wanted records of a log, in its order, until its end as it is now. Lines that are no record are left out."""
    start = scan.before(directory, wanted.from_ms) if wanted.from_ms is not None else BEGINNING
    with LogReader(directory, "cat", start=start) as reader:
        while entries := reader.read().entries:
            for entry in entries:
                record = _decoded(entry)
                if record is not None and wanted.takes(record):
                    yield Picked(record, entry.line)


def show(record: Record) -> Shown:
    """The row of a record."""
    job = job_of(record)
    name, what = _name_and_what(record)
    return Shown(record.observedms, type_of(record), kind_of(record), name, str(job) if job else "", what)


def type_of(record: Record) -> str:
    """`object`, `event`, …: the type as a person writes it."""
    return _word(type(record))


def kind_of(record: Record) -> str:
    """Kind of the object that a record is about; of a decision, the job's."""
    if isinstance(record, ObjectRecord | GapRecord):
        return record.data.kind
    if isinstance(record, EventRecord):
        return record.data.regarding.kind if record.data.regarding else ""
    job = job_of(record)
    return job.kind if job else ""


def job_of(record: Record) -> JobRef | None:
    """The job that a record belongs to."""
    return record.data.job if isinstance(record, ObjectRecord | EventRecord | DecisionRecord) else None


def _job_name(record: Record) -> str | None:
    job = job_of(record)
    return f"{job.namespace}/{job.name}" if job else None


def _decoded(entry: Entry) -> Record | None:
    try:
        return codec.decode(entry.line)
    except codec.Undecodable:
        return None


def _name_and_what(record: Record) -> tuple[str, str]:
    if isinstance(record, ObjectRecord):
        change = record.data
        return _path(change.namespace, change.name), change.change
    if isinstance(record, EventRecord):
        about, seen = record.data.regarding, record.data
        return _path(about.namespace or "", about.name) if about else "", f"{seen.reason}: {seen.message}"
    if isinstance(record, DecisionRecord):
        made = record.data
        return made.task or "", " ".join(word for word in (made.kind, made.reason or "", made.message) if word)
    if isinstance(record, FiguresRecord):
        return "", f"{len(record.data.queues)} queues, {len(record.data.nodes)} nodes"
    if isinstance(record, GapRecord):
        return "", f"{record.data.why}, {record.data.changed} changed"
    return "", ""


def _path(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name
