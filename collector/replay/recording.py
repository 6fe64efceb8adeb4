"""A recording read as happenings.

A recording is a folder of `NAME.ndjson` or `NAME.ndjson.gz` files, one a watch. A line has `t` (receive time, ms UTC),
`watch`, and one of `request` (sent, and its answer's headers came), `list` (one page, unchanged), `frame` (one line of
a watch stream, unchanged), `error` (body of an HTTP error), `end` (the stream or connection ended). `manifest.json` may
name the files that a replay reads (`{"files": […]}`). Without it: one file a
resource, `events.k8s.io` before core, and no file whose name ends in `-watchlist` or `-late`.

Lines of all files are merged by (t, file name, line number): one order, the same in every replay.

A recorder that is killed leaves files that end in the middle. Each is read up to its last whole line, and that is told. A
file that is damaged before its end is an error: what follows would make no sense without what is missing.
"""

from __future__ import annotations

import gzip
import heapq
import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec

from pipeline.errors import KubeCollectorError, UserError
from pipeline.kubeapi import frames, statuses
from pipeline.kubeapi import happenings as tell
from pipeline.kubeapi.happenings import Doing, Happening, How, Why
from pipeline.records import times
from pipeline.telemetry import logs

log = logs.get(__name__)
_PATH = re.compile(r"/(?:api|apis/(?P<group>[^/]+))/(?P<version>[^/]+)/(?:namespaces/[^/]+/)?(?P<plural>[^/]+)$")
_ASIDE = ("-watchlist", "-late")
_EVENTS = "events.events.k8s.io"
_CORE_EVENTS = "events"


class Request(msgspec.Struct):
    target: str = ""
    status: int | None = None
    sent: int | None = None


class End(msgspec.Struct):
    reason: str = ""
    detail: str = ""


class Line(msgspec.Struct):
    """One line of a recording; an `error` may be null."""

    t: int
    watch: str = ""
    request: Request | None = None
    list: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    frame: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    end: End | None = None


class Manifest(msgspec.Struct):
    """`cluster` is for people; `recorded` is when it ended, RFC 3339."""

    files: list[str] = []
    cluster: str = ""
    recorded: str = ""


class Played(NamedTuple):
    """One happening of one watch; `watch` is the resource as people spell it (`pods`, `jobs.batch`)."""

    t: int
    watch: str
    happening: Happening


_line = msgspec.json.Decoder(Line)


class Recording:
    """Opens a folder. Raises UserError when it is none, or its files cannot be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not folder.is_dir():
            raise UserError(
                "there is no such recording", where=str(folder), fix="Name a folder of NAME.ndjson.gz files."
            )
        manifest = _manifest(folder)
        self._ended_ms = times.parse_ms(manifest.recorded or None)
        self._files = _chosen(folder, manifest.files)
        self.watches = tuple(name for name, _ in self._files)
        """The resources that the recording has."""

    def __iter__(self) -> Iterator[Played]:
        """All happenings in order. Raises UserError, naming file and line, at a line that cannot be read."""
        yield from heapq.merge(
            *map(_happenings, [f for _, f in self._files], self.watches), key=lambda played: played.t
        )

    def bounds(self) -> tuple[int, int]:
        """First and last receive time, ms UTC. Only without an end in the manifest are the files read whole for it."""
        first_ms = min((line.t for _, path in self._files for _, line in islice(_lines(path), 1)), default=0)
        last_ms = self._ended_ms
        if last_ms is None:
            last_ms = max((line.t for _, path in self._files for _, line in _lines(path)), default=first_ms)
        return first_ms, max(first_ms, last_ms)


def resource_name(target: str) -> str | None:
    """`/apis/batch/v1/jobs?limit=50` → `jobs.batch`; None for a path that is no collection."""
    found = _PATH.match(urlsplit(target).path)
    if found is None:
        return None
    return f"{found['plural']}.{found['group']}" if found["group"] else found["plural"]


class _Watch:
    """Follows one file: what the lines mean depends on what was asked last."""

    def __init__(self) -> None:
        self._version = ""
        self._kind = self._api_version = ""
        self._listing = self._streamed = self._seen = False
        self._watching = False
        self._why = Why.START
        self._alive_ms: int | None = None

    def take(self, line: Line) -> Iterator[Happening]:
        if line.request is not None:
            yield from self._request(line.t, line.request)
        elif line.list is not msgspec.UNSET:
            yield self._page(line.t, line.list)
        elif line.frame is not msgspec.UNSET:
            yield from self._frame(line.t, line.frame)
        elif line.end is not None:
            yield self._end(line.t, line.end)
        elif line.error is not msgspec.UNSET:
            yield from self._refused(line.t, bytes(line.error))

    def _request(self, t: int, request: Request) -> Iterator[Happening]:
        query = parse_qs(urlsplit(request.target).query)
        if (request.status or 200) >= 400:
            return
        if "watch" in query and query["watch"][0] in ("1", "true"):
            self._watching = True
            self._streamed = query.get("sendInitialEvents", [""])[0] in ("1", "true")
            if self._streamed:
                yield self._begin(t)
            else:
                self._version = query.get("resourceVersion", [self._version])[0]
                yield tell.WatchStarted(t, self._version)
        elif "continue" not in query:
            yield self._begin(t)

    def _begin(self, t: int) -> Happening:
        if self._listing:
            return tell.ListRestarted(t, Why.EXPIRED)
        self._listing = True
        return tell.ListStarted(t, self._why)

    def _page(self, t: int, body: msgspec.Raw) -> Happening:
        page = frames.decode_page(bytes(body))
        last = not page.token
        if last:
            self._listed(t, page.version)
        return tell.ListPage(t, page.items, page.kind, page.api_version, page.version, last, page.lossy)

    def _listed(self, t: int, version: str) -> None:
        self._listing = self._streamed = False
        self._version, self._alive_ms = version, t
        self._why = Why.CUT

    def _frame(self, t: int, data: msgspec.Raw) -> Iterator[Happening]:
        for found in frames.decode(bytes(data)):
            if isinstance(found, frames.BadLine):
                yield tell.BadLines(t, [found])
            elif found.type == frames.ERROR:
                yield tell.StreamEnded(t, How.ERROR, str(found.problem or ""))
                self._watching = False
                yield from self._expire(t, found.problem or statuses.Problem())
            elif found.type == frames.BOOKMARK:
                yield from self._bookmark(t, found)
            elif self._streamed:
                self._alive_ms = t
                deleted = found.type == frames.DELETED
                yield (
                    tell.Frames(t, [found])
                    if deleted
                    else tell.ListPage(t, [found.object], "", "", "", last=False, lossy=found.lossy)
                )
            else:
                self._version, self._alive_ms = found.version or self._version, t
                yield tell.Frames(t, [found])

    def _bookmark(self, t: int, mark: frames.Frame) -> Iterator[Happening]:
        self._alive_ms = t
        if self._streamed and mark.initial_events_end:
            self._listed(t, mark.version)
            yield tell.ListPage(t, [], "", "", mark.version, last=True)
            yield tell.WatchStarted(t, mark.version)
        elif not self._streamed:
            self._version = mark.version
            yield tell.Bookmark(t, mark.version)

    def _end(self, t: int, end: End) -> Happening:
        how = {"eof": How.ORDERLY, "error frame": How.ERROR}.get(end.reason, How.CONNECTION)
        if how is How.ORDERLY and self._watching:
            self._alive_ms = t
        self._watching = False
        return tell.StreamEnded(t, how, end.detail)

    def _refused(self, t: int, body: bytes) -> Iterator[Happening]:
        problem = (
            statuses.read_status(body) if body != b"null" else statuses.Problem(message="an answer without a body")
        )
        action = statuses.action_for(problem)
        if action is statuses.Action.DISABLE_KEEP_OTHERS:
            yield tell.Forbidden(t, str(problem))
        elif action is statuses.Action.NOT_SERVED:
            self._why = Why.SERVED_AGAIN if self._version else self._why
            yield tell.NotServed(t, str(problem))
        elif not self._listing:
            yield from self._expire(t, problem)
        elif action is not statuses.Action.RELIST:
            yield tell.Retrying(t, Doing.LIST, 0, 0.0, action, str(problem))

    def _expire(self, t: int, problem: statuses.Problem) -> Iterator[Happening]:
        if statuses.action_for(problem) is statuses.Action.RELIST:
            self._why = Why.AHEAD if problem.ahead else Why.EXPIRED
            yield tell.Expired(t, self._version, self._alive_ms, self._why)


def _happenings(path: Path, watch: str) -> Iterator[Played]:
    follower = _Watch()
    for number, line in _lines(path, partial(_tell_cut, path.name)):
        try:
            for happening in follower.take(line):
                yield Played(line.t, watch, happening)
        except (KubeCollectorError, msgspec.MsgspecError) as error:
            raise UserError(
                f"this line of the recording cannot be read: {error}",
                where=f"{path.name}:{number}",
                fix="Record it again, or remove the line.",
            ) from error


def _lines(path: Path, cut: Callable[[int], object] = lambda lines: None) -> Iterator[tuple[int, Line]]:
    """Numbered lines, up to where the file was cut off; `cut` is told how many those are."""
    number = 0
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            for number, data in enumerate(stream, 1):
                if _is_torn(data):
                    cut(number - 1)
                elif data.strip():
                    yield number, _line.decode(data)
    except EOFError:
        cut(number)
    except (OSError, zlib.error, msgspec.MsgspecError) as error:
        raise UserError(
            f"the recording cannot be read: {error}",
            where=f"{path.name}:{number + (not isinstance(error, msgspec.MsgspecError))}",
            fix="Record it again, or remove the line.",
        ) from error


def _is_torn(data: bytes) -> bool:
    """Whether this is a part of a line; a last line may lack only its newline."""
    if data.endswith(b"\n"):
        return False
    try:
        _line.decode(data)
    except msgspec.MsgspecError:
        return True
    return False


def _tell_cut(file: str, lines: int) -> None:
    log.warning("recording_cut", file=file, lines=lines, why="the recorder was killed, or the file is not all there")


def _manifest(folder: Path) -> Manifest:
    path = folder / "manifest.json"
    if not path.exists():
        return Manifest()
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except msgspec.MsgspecError as error:
        raise UserError(f"the manifest cannot be read: {error}", where=str(path)) from error


def _chosen(folder: Path, wanted: list[str]) -> list[tuple[str, Path]]:
    """(resource, file) of the files to read, by file name."""
    if wanted:
        paths = [folder / name for name in sorted(wanted)]
        missing = [path.name for path in paths if not path.exists()]
        if missing:
            raise UserError(f"the manifest names files that are not there: {', '.join(missing)}", where=str(folder))
        return [(_resource_of(path), path) for path in paths if not _is_empty(path)]
    by_resource: dict[str, Path] = {}
    for path in sorted(folder.glob("*.ndjson*")):
        aside = path.name.split(".")[0].endswith(_ASIDE)
        if path.suffix in (".ndjson", ".gz") and not aside and not _is_empty(path):
            by_resource.setdefault(_resource_of(path), path)
    if _EVENTS in by_resource:
        by_resource.pop(_CORE_EVENTS, None)
    if not by_resource:
        raise UserError(
            "no recorded watch is in this folder", where=str(folder), fix="Name a folder of NAME.ndjson.gz files."
        )
    return sorted(by_resource.items(), key=lambda item: item[1].name)


def _is_empty(path: Path) -> bool:
    """Whether nothing of a file came to the disk before its recorder was killed; that is told."""
    if any(True for _ in _lines(path)):
        return False
    _tell_cut(path.name, 0)
    return True


def _resource_of(path: Path) -> str:
    for _, line in _lines(path):
        if line.request is not None:
            return resource_name(line.request.target) or path.name.split(".")[0]
    raise UserError("this file holds no request, so its resource is not known", where=path.name)
