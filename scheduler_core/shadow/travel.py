"""What the scheduler would have decided at a moment of the past: the nearest snapshot before it, the log up to it, and
one session there."""

from __future__ import annotations

import zlib
from pathlib import Path

from pipeline.config.load import Loaded
from pipeline.config.places import Places
from pipeline.errors import NotFound, Terminal
from pipeline.log import LogReader, Position, layout, scan
from pipeline.log.positions import BEGINNING
from pipeline.records import times
from pipeline.records.decisions import Decision
from pipeline.records.jobs import JobRef
from scheduler_core.settings import Settings
from scheduler_core.shadow import building, runner, snapshots
from scheduler_core.shadow.machine import Machine

_READER = "time-travel"


def explain(loaded: Loaded, cluster: str, job: JobRef, at_ms: int) -> list[Decision]:
    """What would have been decided about a job and its tasks at `at_ms`; nothing if it did not wait.

    The job is known by its uid, and by its name where the log had another uid for it. Raises NotFound when the log does
    not reach back so far.
    """
    found = [each for each in decisions_at(loaded, cluster, at_ms) if each.job is not None]
    own = [each for each in found if each.job is not None and each.job.uid == job.uid]
    return own or [each for each in found if _same_name(each.job, job)]


def decisions_at(loaded: Loaded, cluster: str, at_ms: int) -> list[Decision]:
    """Everything that one session would have decided at `at_ms`. Raises NotFound as `explain`."""
    machine = machine_at(loaded, cluster, at_ms)
    return machine.ask(at_ms)


def machine_at(loaded: Loaded, cluster: str, at_ms: int) -> Machine:
    """The shadow as it was when log time was `at_ms`."""
    places = Places(loaded.ground.data_dir)
    machine = building.machine(loaded.of(Settings), cluster)
    begin = _nearest(machine, places, at_ms)
    if begin == BEGINNING and layout.first(places.records) > layout.FIRST:
        raise NotFound(
            "the beginning of the log is gone, and no snapshot of the cluster lies before that moment",
            where=str(places.snapshots),
            fix="Ask for a later time; snapshots are made while the shadow scheduler is on.",
        )
    first_ms = machine.stamp
    with LogReader(places.records, _READER, start=begin) as reader:
        while (batch := reader.read()).entries:
            for entry in batch.entries:
                first_ms = entry.stamp if first_ms < 0 else first_ms
                if entry.stamp > at_ms:
                    return _known(machine, places.records, first_ms, at_ms)
                record = runner.told(entry.line)
                if record is not None:
                    machine.take(record)
    return _known(machine, places.records, first_ms, at_ms)


def end_ms(loaded: Loaded) -> int:
    """Log time at the end of the log: what "now" means there. Raises NotFound when there is no log."""
    log = Places(loaded.ground.data_dir).records
    for number in reversed(layout.numbers(log)):
        span = scan.span(log, number, closed=False)
        if span is not None:
            return span[1]
    raise layout.no_log(log)


def cluster_of(loaded: Loaded) -> str | None:
    """The cluster of the first record in the log."""
    with LogReader(Places(loaded.ground.data_dir).records, _READER, start=BEGINNING) as reader:
        while (batch := reader.read(max_records=100)).entries:
            for entry in batch.entries:
                record = runner.told(entry.line)
                if record is not None:
                    return record.cluster
    return None


def _nearest(machine: Machine, places: Places, at_ms: int) -> Position:
    for each in reversed(snapshots.usable(places.snapshots, places.records)):
        if each.stamp > at_ms:
            continue
        try:
            machine.restore(each.read())
        except (OSError, zlib.error, Terminal):
            continue  # an older one and more of the log tell the same
        return each.position
    return BEGINNING


def _known(machine: Machine, log: Path, first_ms: int, at_ms: int) -> Machine:
    if first_ms < 0:
        raise layout.no_log(log)
    if first_ms > at_ms:
        raise NotFound(
            "the log does not reach back to that moment",
            where=str(log),
            fix=f"Ask for {times.format_ms(first_ms)} or later.",
        )
    return machine


def _same_name(one: JobRef | None, other: JobRef) -> bool:
    return one is not None and (one.namespace, one.name) == (other.namespace, other.name)
