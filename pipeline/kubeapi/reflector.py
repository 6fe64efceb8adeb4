"""The one loop that keeps up with a collection: list, watch, come back, list again.

A reflector has a version or it has none. Without one it lists the collection, page by page, and takes the list's own
version. With one it watches from there, and every object frame and bookmark moves the version on; an ERROR frame never
does. Versions are opaque: kept, sent back, compared with nothing.

A stream ends in one of four ways. *Orderly*: the server's own time-out; watch on. *Error frame*: `statuses` says what to
do. *Connection*: cut, refused, reset; watch on after a wait. *Silent*: neither frame nor bookmark for `silent_s`, which
is how a half-open connection looks, and also how a quiet kind looks that gets no bookmarks. Such a kind is asked for
shorter watches, so that the server's orderly end is the sign of life.

A version from the server's future (etcd was restored, or another API server lags) is no error for a watch: it is
answered with 200 and silence. So whenever a stream did not end in order, and before the first watch from a version that
the consumer brought, the server is asked for one object that is *not older than* our version: it refuses that (504) if
it has not got so far. A lagging server gets there within seconds; one that does not was restored: list again.

`happenings` is a generator so that the loop can be read from top to bottom, and driven by a test without a thread.
Nothing in it ever gives up: every failure is told (`Retrying`, `Forbidden`, `NotServed`), waited out, and tried again.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import threading
from collections.abc import Callable, Generator, Iterator

from pipeline.errors import Terminal, Transient
from pipeline.kubeapi import frames, statuses, transport
from pipeline.kubeapi import happenings as tell
from pipeline.kubeapi.frames import BadLine, Frame
from pipeline.kubeapi.happenings import Doing, Happening, How, Why
from pipeline.kubeapi.lines import LineSplitter
from pipeline.kubeapi.options import DEFAULTS, Clock, Options, SystemClock
from pipeline.kubeapi.progress import Progress, State
from pipeline.kubeapi.resources import Collection
from pipeline.kubeapi.statuses import Action
from pipeline.kubeapi.transport import StreamSilent, Transport
from pipeline.kubeapi.trouble import Step, Trouble
from pipeline.records.shapes import Shape


class Reflector:
    """Keeps up with one collection. `run` blocks its thread until `stop` is called from another."""

    def __init__(
        self,
        collection: Collection,
        connection: Transport,
        options: Options = DEFAULTS,
        *,
        shape: type[Shape] | None = None,
        resume_from: str | None = None,
        why: Why = Why.START,
        time: Clock | None = None,
        dice: Callable[[], float] = random.random,
    ) -> None:
        """`shape`: of the objects in `Frames`; None = they stay JSON, as those of lists do.

        `resume_from`: the version up to which the consumer has everything durably; None = list first, and `why`.
        """
        self.collection = collection
        self.progress = Progress(version=resume_from or "")
        self._reader = frames.Reader(shape)
        self._connection = connection
        self._options = options
        self._time = time or SystemClock()
        self._dice = dice
        self._trouble = Trouble(options, dice)
        self._stop = threading.Event()
        self._version = resume_from or ""
        self._why = why
        self._in_doubt = bool(resume_from)
        """Our version may be in the server's future: ask before watching from it."""
        self._list_open = False
        self._streamed_list = options.streamed_list
        self._cut_lists = 0
        self._silent_lists = 0
        self._splitter = LineSplitter(options.max_line_bytes)
        self._stream_brought = False
        self._gets_bookmarks = False

    def run(self, consumer: Callable[[Happening], None]) -> None:
        """Tells `consumer` everything until stopped. What the consumer raises ends the loop and is passed on."""
        with contextlib.closing(self.happenings()) as happenings:
            for happening in happenings:
                consumer(happening)

    def stop(self) -> None:
        """From any thread: `run` returns at once and tells nothing more.

        Only while it waits for a connection or for the head of an answer does it return when that wait ends; whoever
        cannot spend that time lets it run in a daemon thread.
        """
        self._stop.set()
        self._connection.abort()

    def happenings(self) -> Generator[Happening, None, None]:
        """The loop itself; ends when stopped."""
        try:
            while not self._stop.is_set():
                if self._version and self._in_doubt:
                    yield from self._probe()
                elif self._version or self._streamed_list:
                    yield from self._watch()
                else:
                    yield from self._list()
        finally:
            self.progress.state = State.STOPPED
            self.progress.watch_since_ms = None

    # The list

    def _list(self) -> Iterator[Happening]:
        """Page by page until the list is whole. A token that expired begins it anew; the second time it comes in one piece."""
        yield self._begin_list()
        token, restarts = "", 0
        while not self._stop.is_set():
            try:
                page = self._get_page(token, whole=restarts > 1)
            except (Transient, Terminal) as error:
                action = transport.action_of(error)
                self._silent_lists += isinstance(error, StreamSilent)
                if not (token and action is Action.RELIST):
                    yield from self._failed(Doing.LIST, error)
                if token and action in (Action.RELIST, Action.NOT_SERVED):
                    token, restarts = "", restarts + 1
                    yield tell.ListRestarted(self._time.now_ms(), Why.EXPIRED)
                continue
            yield from self._recovered()
            yield from self._tell_page(page)
            token = page.token
            if not token:
                self._listed(page.version)
                return

    def _begin_list(self) -> Happening:
        if self.progress.state not in _REFUSED:  # one more try is not yet a list
            self.progress.state = State.LISTING
        if self._list_open:
            return tell.ListRestarted(self._time.now_ms(), self._why)
        self._list_open = True
        return tell.ListStarted(self._time.now_ms(), self._why)

    def _get_page(self, token: str, whole: bool) -> frames.Page:
        query = dict(self.collection.query)
        if not whole:
            query["limit"] = str(self._options.page_limit)
        if token:
            query["continue"] = token
        patience_s = self._options.list_read_timeout_s * 2 ** min(self._silent_lists, _MOST_PATIENCE)
        body = self._connection.get(self.collection.path, query, read_timeout_s=patience_s)
        return frames.decode_page(body, self.collection.resource.kind)

    def _tell_page(self, page: frames.Page) -> Iterator[Happening]:
        at_ms = self._time.now_ms()
        if page.bad:
            yield from self._tell_bad(page.bad, at_ms)
        self.progress.lossy += page.lossy
        api_version = page.api_version or self.collection.resource.api_version
        last = not page.token
        yield tell.ListPage(at_ms, page.items, page.kind, api_version, page.version, last, page.lossy)

    def _listed(self, version: str) -> None:
        self._list_open = False
        self._in_doubt = False
        self._cut_lists = self._silent_lists = 0
        self._move_to(version)
        self.progress.lists += 1
        self.progress.last_list_ms = self.progress.last_alive_ms = self._time.now_ms()

    # The watch

    def _watch(self) -> Iterator[Happening]:
        """One stream, from its opening to its end and what follows from that; without a version it lists first."""
        if not self._version:
            yield self._begin_list()
        self._splitter = LineSplitter(self._options.max_line_bytes)
        self._stream_brought = False
        opened_s: float | None = None
        failure: Transient | Terminal | None = None
        try:
            with self._connection.stream(
                self.collection.path, self._watch_query(), read_timeout_s=self._options.silent_s
            ) as chunks:
                opened_s = self._time.monotonic_s()
                yield from self._opened()
                yield from self._read(chunks)
        except (Transient, Terminal) as error:
            failure = error
        self.progress.watch_since_ms = None
        if self._stop.is_set():
            return
        if opened_s is not None:
            yield from self._ended(failure, self._time.monotonic_s() - opened_s)
        elif failure is not None:
            yield from self._refused_to_open(failure)

    def _watch_query(self) -> dict[str, str]:
        query = {
            **self.collection.query,
            "watch": "1",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(max(1, int(self._watch_timeout_s()))),
        }
        if self._version:
            query["resourceVersion"] = self._version
        else:
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        return query

    def _watch_timeout_s(self) -> float:
        """A kind that never had a bookmark gets short watches: their orderly end is its only sign of life."""
        longest_s = self._options.watch_timeout_s
        if not self._gets_bookmarks:
            longest_s = min(longest_s, 0.8 * self._options.silent_s)
        return longest_s * (1 - 0.1 * self._dice())

    def _opened(self) -> Iterator[Happening]:
        now_ms = self._time.now_ms()
        self.progress.watches += 1
        self.progress.watch_since_ms = now_ms
        yield from self._recovered()
        if self._version:
            self.progress.state = State.WATCHING
            yield tell.WatchStarted(now_ms, self._version)

    def _read(self, chunks: Iterator[bytes]) -> Iterator[Happening]:
        quiet_since_s = self._time.monotonic_s()
        for chunk in chunks:
            if self._stop.is_set():
                return
            lines = self._splitter.feed(chunk)
            if lines:
                yield from self._tell_lines(lines, self._time.now_ms())
                quiet_since_s = self._time.monotonic_s()  # time that the consumer took is no silence
            elif self._time.monotonic_s() - quiet_since_s > self._options.silent_s:
                raise StreamSilent(f"bytes came, but no frame for {self._options.silent_s:g} s")

    def _tell_lines(self, lines: list[bytes], at_ms: int) -> Iterator[Happening]:
        for sort, run in itertools.groupby(self._decoded(lines), _sort_of):
            if sort == _BAD:
                yield from self._tell_bad([each for each in run if isinstance(each, BadLine)], at_ms)
                continue
            found = [each for each in run if isinstance(each, Frame)]
            if sort == frames.ERROR:
                raise transport.refusal(found[0].problem or statuses.Problem())
            yield from (
                self._tell_bookmarks(found, at_ms) if sort == frames.BOOKMARK else self._tell_objects(found, at_ms)
            )

    def _decoded(self, lines: list[bytes]) -> list[Frame | BadLine]:
        """In a list that streams objects stay JSON, as in pages."""
        return self._reader.read(lines) if self._version else _undecoded.read(lines)

    def _tell_bad(self, lines: list[BadLine], at_ms: int) -> Iterator[Happening]:
        self.progress.bad_lines += len(lines)
        yield tell.BadLines(at_ms, lines)

    def _tell_objects(self, found: list[Frame], at_ms: int) -> Iterator[Happening]:
        self._alive(at_ms)
        self.progress.last_frame_ms = at_ms
        self.progress.frames += len(found)
        self.progress.lossy += sum(frame.lossy for frame in found)
        if self._version:
            yield tell.Frames(at_ms, found)
            self._move_to(next((frame.version for frame in reversed(found) if frame.version), self._version))
            return
        for deleted, run in itertools.groupby(found, lambda frame: frame.type == frames.DELETED):
            part = list(run)
            yield tell.Frames(at_ms, part) if deleted else self._streamed_page(part, at_ms)

    def _tell_bookmarks(self, found: list[Frame], at_ms: int) -> Iterator[Happening]:
        self._alive(at_ms)
        self.progress.last_bookmark_ms = at_ms
        self.progress.bookmarks += len(found)
        for mark in found:
            if self._version:
                self._gets_bookmarks = True
                yield tell.Bookmark(at_ms, mark.version)
                self._move_to(mark.version)
            elif mark.initial_events_end:
                yield self._streamed_page([], at_ms, mark.version)
                self._listed(mark.version)
                self.progress.state = State.WATCHING
                yield tell.WatchStarted(at_ms, mark.version)

    def _streamed_page(self, found: list[Frame], at_ms: int, version: str = "") -> Happening:
        resource = self.collection.resource
        return tell.ListPage(
            at_ms,
            [frame.object for frame in found],
            resource.kind,
            resource.api_version,
            version,
            last=bool(version),
            lossy=any(frame.lossy for frame in found),
        )

    # What follows a failure

    def _refused_to_open(self, failure: Transient | Terminal) -> Iterator[Happening]:
        if not self._version and transport.problem_of(failure).code in _NOT_UNDERSTOOD:
            self._streamed_list = False  # the server cannot list by watching
            return
        self._in_doubt = bool(self._version)
        yield from self._failed(self._doing(), failure)

    def _ended(self, failure: Transient | Terminal | None, lived_s: float) -> Iterator[Happening]:
        how = _how(failure)
        lost_bytes = self._splitter.pending_bytes
        self.progress.discarded_bytes += lost_bytes
        yield tell.StreamEnded(self._time.now_ms(), how, str(failure or ""), lost_bytes)
        if self._stream_brought or lived_s >= self._options.settled_s:
            self._trouble.settled()
        elif failure is None:
            failure = Transient(f"the server ended the stream after {lived_s:.1f} s without a frame")
        if not self._version:
            self._list_was_cut()
        if how is How.ORDERLY:
            self._alive(self._time.now_ms())
        else:
            self._in_doubt = bool(self._version)
        if isinstance(failure, StreamSilent):
            self.progress.silences += 1
            yield tell.Silent(self._time.now_ms(), self._options.silent_s, self._version)
        elif failure is not None:
            yield from self._failed(self._doing(), failure)

    def _doing(self) -> Doing:
        """What an open stream is for: without a version it lists."""
        return Doing.WATCH if self._version else Doing.LIST

    def _list_was_cut(self) -> None:
        """A list that streams did not come to its end; the second time in a row pages are safer."""
        self._why = Why.CUT
        self._cut_lists += 1
        if self._cut_lists > 1:
            self._streamed_list = False

    def _probe(self) -> Iterator[Happening]:
        """Asks for one object not older than our version: refused if our version is in the server's future."""
        query = {
            **self.collection.query,
            "limit": "1",
            "resourceVersion": self._version,
            "resourceVersionMatch": "NotOlderThan",
        }
        try:
            self._connection.get(self.collection.path, query, read_timeout_s=self._options.list_read_timeout_s)
        except (Transient, Terminal) as error:
            refused_as_such = transport.problem_of(error).code in _NOT_UNDERSTOOD
            if not refused_as_such or transport.action_of(error) is Action.RELIST:
                yield from self._failed(Doing.PROBE, error)
                return
        self._in_doubt = False

    def _failed(self, doing: Doing, error: Transient | Terminal) -> Iterator[Happening]:
        """Tells of the failure, does what can be done about it, and waits."""
        self.progress.error = str(error)
        step = self._trouble.met(doing, error, self._time.monotonic_s())
        if step.expired is not None:
            yield from self._expire(step.expired)
        else:
            yield from self._tell_trouble(step, doing)
        if step.action is Action.REFRESH_TOKEN:
            self._refresh_token()
        self._time.wait(self._stop, step.wait_s)

    def _expire(self, why: Why) -> Iterator[Happening]:
        self.progress.expiries += 1
        yield tell.Expired(self._time.now_ms(), self._version, self.progress.last_alive_ms, why)
        self._forget_version(why)

    def _forget_version(self, why: Why) -> None:
        self._move_to("")
        self._why = why

    def _tell_trouble(self, step: Step, doing: Doing) -> Iterator[Happening]:
        self.progress.retries += 1
        self.progress.state = _STATES.get(step.action, State.RETRYING)
        now_ms, error = self._time.now_ms(), self.progress.error
        if step.is_news and step.action is Action.DISABLE_KEEP_OTHERS:
            yield tell.Forbidden(now_ms, error)
        elif step.is_news and step.action is Action.NOT_SERVED:
            yield tell.NotServed(now_ms, error)
            if self._version:
                self._forget_version(Why.SERVED_AGAIN)
        yield tell.Retrying(now_ms, doing, step.attempt, step.wait_s, step.action, error)

    def _refresh_token(self) -> None:
        try:
            self._connection.refresh()
        except (Transient, Terminal) as error:
            self.progress.error = str(error)

    def _recovered(self) -> Iterator[Happening]:
        """After any success: tells that the trouble is over, if there was one."""
        self.progress.error = ""
        lasted_s = self._trouble.over(self._time.monotonic_s())
        if lasted_s is not None:
            self.progress.state = State.WATCHING if self._version else State.LISTING
            yield tell.Back(self._time.now_ms(), lasted_s)

    def _alive(self, at_ms: int) -> None:
        self._stream_brought = True
        self.progress.last_alive_ms = at_ms

    def _move_to(self, version: str) -> None:
        self._version = self.progress.version = version


_NOT_UNDERSTOOD = (400, 422)
"""How servers refuse a parameter they do not know, or a feature that is off."""

_MOST_PATIENCE = 2
"""A list that brought nothing in time is given twice the time, then four times: some servers need minutes for events."""

_REFUSED = (State.FORBIDDEN, State.NOT_SERVED)
_STATES = {Action.DISABLE_KEEP_OTHERS: State.FORBIDDEN, Action.NOT_SERVED: State.NOT_SERVED}

_BAD = ""
_undecoded = frames.Reader()


def _sort_of(item: Frame | BadLine) -> str:
    if isinstance(item, BadLine):
        return _BAD
    return frames.ADDED if item.type in frames.OBJECT_TYPES else item.type


def _how(failure: Transient | Terminal | None) -> How:
    if failure is None:
        return How.ORDERLY
    if isinstance(failure, StreamSilent):
        return How.SILENT
    return How.ERROR if isinstance(failure, transport.ServerBusy | transport.Refused) else How.CONNECTION
