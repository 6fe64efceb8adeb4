"""The machine of one bucket: records and timers in, rows out, in one order that every runner shares.

Time in a bucket is `now`, the largest stamp it has seen; only records and ticks move it. When a record or tick moves
`now`, first all timers that have come due fire, in order of (due, job, name), with the new `now`; then the record is
applied. A timer that an operator sets in the past fires with the next record or tick. So the rows depend on the log
alone: not on batches, restarts, or how fast it was read.

An operator may change its state in place. If it raises, the state is made again from its last stored form and the
steps taken since, without the one that raised: nothing half done stays, the bad record becomes a dead letter, and time
goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import Any, NamedTuple, Protocol

from pipeline.records.envelope import Record
from pipeline.records.jobs import JobRef
from pipeline.records.rows import Row


class Stepped(Protocol):
    """What an operator answers: the state (None: drop it), rows to write, timers to set (None: cancel)."""

    @property
    def state(self) -> Any: ...
    @property
    def rows(self) -> list[Row]: ...
    @property
    def timers(self) -> dict[str, int | None]: ...


class Operator(Protocol):
    """A pure function of one job's records. States round-trip through `encode` and `decode`."""

    def zero(self, cluster: str, job: JobRef, now: int) -> Any: ...
    def on_record(self, state: Any, record: Record, now: int) -> Stepped: ...
    def on_timer(self, state: Any, name: str, now: int) -> Stepped: ...
    def encode(self, state: Any) -> bytes: ...
    def decode(self, data: bytes) -> Any: ...


class Stored(NamedTuple):
    """What a store keeps of one job: its encoded state and its timers (name → due, ms)."""

    data: bytes
    timers: dict[str, int]


class Store(Protocol):
    """Point reads of what was committed."""

    def get(self, key: str) -> Stored | None: ...


class Failure(NamedTuple):
    """A step that raised: the record, or None for a timer, and what was raised."""

    key: str
    record: Record | None
    error: Exception


class _Live:
    """A job since the last commit: its state, its timers, and the steps taken, for doing them again."""

    __slots__ = ("state", "steps", "timers")

    def __init__(self, state: Any, timers: dict[str, int]) -> None:
        self.state = state
        self.timers = timers
        self.steps: list[tuple[str | Record | JobRef, int]] = []


class Bucket:
    """One of the 256 machines. `now` -1 means that nothing was seen yet."""

    def __init__(self, operator: Operator, store: Store, cluster: str, now: int = -1) -> None:
        self._operator = operator
        self._store = store
        self._cluster = cluster
        self.now = now
        self._due: list[tuple[int, str, str]] = []
        self._live: dict[str, _Live] = {}
        self._changed: dict[str, _Live] = {}
        self.failures: list[Failure] = []
        self.rows: list[Row] = []

    def arm(self, key: str, timers: dict[str, int]) -> None:
        """Takes over a stored job's timers, at start."""
        for name, due in timers.items():
            heappush(self._due, (due, key, name))

    def advance(self, stamp: int) -> bool:
        """Time has come to `stamp` (a tick, or a record of no job). Whether a timer was due."""
        if stamp > self.now:
            self.now = stamp
        if not self._due or self._due[0][0] > self.now:
            return False
        self._fire()
        return True

    def take(self, key: str, job: JobRef, record: Record, stamp: int) -> None:
        """Applies a record of a job, after the timers that its stamp made due."""
        self.advance(stamp)
        live = self._live.get(key)
        if live is None or live.state is None:
            live = self._open(key, job)
        self._step(key, live, record)

    def commit(self) -> Iterator[tuple[str, Stored | None]]:
        """Everything that changed since the last commit, None for dropped jobs; then starts anew from there."""
        for key, live in self._changed.items():
            if live.state is None:
                del self._live[key]
                yield key, None
            else:
                yield key, Stored(self._operator.encode(live.state), live.timers)
                live.steps.clear()
        self._changed = {}

    def forget(self, keep: Callable[[str], bool]) -> None:
        """Lets go of decoded states that `keep` does not want in memory; only right after a commit."""
        self._live = {key: live for key, live in self._live.items() if keep(key)}

    def open_states(self) -> int:
        """Decoded states in memory; those dropped since the last commit are among them."""
        return len(self._live)

    def _open(self, key: str, job: JobRef | None) -> _Live:
        """What is known of a job, or without `job` possibly nothing: that is not remembered."""
        live = self._live.get(key)
        if live is None:
            stored = self._store.get(key)
            state = None if stored is None else self._operator.decode(stored.data)
            live = _Live(state, dict(stored.timers) if stored else {})
            if stored or job is not None:
                self._live[key] = live
        if live.state is None and job is not None:
            live.state = self._operator.zero(self._cluster, job, self.now)
            live.steps.append((job, self.now))
            self._changed[key] = live
        return live

    def _fire(self) -> None:
        # Timers set while firing wait for the next record or tick even if already due: no step can loop for ever.
        due: list[tuple[int, str, str]] = []
        while self._due and self._due[0][0] <= self.now:
            due.append(heappop(self._due))
        for at, key, name in due:
            live = self._open(key, None)
            if live.state is None or live.timers.get(name) != at:
                continue  # cancelled, moved or dropped since
            del live.timers[name]
            self._changed[key] = live
            self._step(key, live, name)

    def _step(self, key: str, live: _Live, what: str | Record) -> None:
        operator, now = self._operator, self.now
        try:
            if isinstance(what, str):
                step = operator.on_timer(live.state, what, now)
            else:
                step = operator.on_record(live.state, what, now)
        except Exception as error:
            self._redo(key, live)
            self.failures.append(Failure(key, None if isinstance(what, str) else what, error))
            return
        live.steps.append((what, now))
        live.state = state = step.state
        self._changed[key] = live
        if step.rows:
            self.rows += step.rows
        if state is None:
            live.timers = {}
        elif step.timers:
            self._set(key, live, step.timers)

    def _set(self, key: str, live: _Live, timers: dict[str, int | None]) -> None:
        for name, due in timers.items():
            if due is None:
                live.timers.pop(name, None)
            elif live.timers.get(name) != due:
                live.timers[name] = due
                heappush(self._due, (due, key, name))

    def _redo(self, key: str, live: _Live) -> None:
        """The state as it was before the step that raised."""
        stored = self._store.get(key)
        state = None if stored is None else self._operator.decode(stored.data)
        for what, now in live.steps:
            if isinstance(what, JobRef):
                state = self._operator.zero(self._cluster, what, now)
            elif isinstance(what, str):
                state = self._operator.on_timer(state, what, now).state
            else:
                state = self._operator.on_record(state, what, now).state
        live.state = state
