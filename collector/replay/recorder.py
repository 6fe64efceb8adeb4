"""Writes what watches tell as a recording that a replay can read, after the same redaction as the spool.

The form is that of `recording`. What a reflector does not tell (headers, the exact query) is not made up: a request
line holds the path and what decides how the lines after it are read. Refusals are written too: a kind that was refused
keeps nobody waiting in a replay either.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from collector.kinds.base import Kind
from collector.replay.recording import Manifest
from pipeline.errors import Terminal, UserError
from pipeline.kubeapi import happenings as tell
from pipeline.kubeapi.happenings import Doing, Happening, How, Why
from pipeline.kubeapi.resources import Resource
from pipeline.kubeapi.statuses import Action
from pipeline.records import shapes, times
from pipeline.records.shapes import Shape

_ENDS = {How.ORDERLY: "eof", How.ERROR: "error frame", How.CONNECTION: "connection", How.SILENT: "connection"}


class Recorder:
    """Opens an empty folder; one file a watch. Raises UserError when the folder holds something."""

    def __init__(self, folder: Path, cluster: str, kinds: Iterable[Kind], annotations: frozenset[str]) -> None:
        if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
            raise UserError("the folder is not empty", where=str(folder), fix="Name a folder that does not exist yet.")
        self._is_new = not folder.exists()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            fix = "Name a folder that this user may make."
            raise UserError(f"the folder cannot be made: {error.strerror}", where=str(folder), fix=fix) from error
        self._folder = folder
        self._cluster = cluster
        self._kinds = {kind.name: kind for kind in kinds}
        self._annotations = annotations
        self._files: dict[str, gzip.GzipFile] = {}
        self._unflushed: set[str] = set()
        self._not_served: dict[str, tell.NotServed] = {}
        self._last_ms = 0
        self.lines = 0
        self.skipped = 0
        """Objects that could not be read, which a recording cannot hold since they cannot be redacted."""

    def take(self, watch: str, happening: Happening) -> None:
        """Writes one happening of one watch. Raises OSError when the disk does not take it."""
        kind = self._kinds.get(watch)
        if kind is None:  # of the cluster itself
            return
        if isinstance(happening, tell.NotServed) and watch not in self._files:
            self._not_served[watch] = happening  # without a file until it comes, if it ever does
            return
        for line in self._lines(kind, happening):
            self._write(watch, happening.at_ms, line)

    def flush(self) -> None:
        """Hands what was taken so far to the system: a recorder that is killed after that has left it on disk.

        Raises OSError as `take`.
        """
        for watch in self._unflushed:
            self._files[watch].flush()
        self._unflushed.clear()

    def close(self) -> None:
        """Ends the files and writes the manifest. Raises OSError as `take`."""
        for file in self._files.values():
            file.close()
        manifest = Manifest(
            files=sorted(f"{watch}.ndjson.gz" for watch in self._files),
            cluster=self._cluster,
            recorded=times.format_ms(self._last_ms) if self._last_ms else "",
        )
        (self._folder / "manifest.json").write_bytes(msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")

    def discard(self) -> None:
        """Nothing was recorded: the folder is as it was."""
        if self._is_new:
            self._folder.rmdir()

    def _write(self, watch: str, at_ms: int, line: dict[str, Any]) -> None:
        if watch not in self._files:
            self._files[watch] = gzip.open(self._folder / f"{watch}.ndjson.gz", "wb")  # noqa: SIM115
            absent = self._not_served.pop(watch, None)
            if absent is not None:
                self._write(watch, absent.at_ms, _request(self._kinds[watch], absent.at_ms, "", 404))
                self._write(watch, absent.at_ms, {"error": _status(404, "NotFound", absent.message)})
        self._files[watch].write(msgspec.json.encode({"t": at_ms, "watch": watch, **line}) + b"\n")
        self._unflushed.add(watch)
        self._last_ms = max(self._last_ms, at_ms)
        self.lines += 1

    def _lines(self, kind: Kind, happening: Happening) -> Iterator[dict[str, Any]]:
        match happening:
            case tell.ListStarted() | tell.ListRestarted():
                yield _request(kind, happening.at_ms, "")
            case tell.ListPage():
                items = [item for raw in happening.items if (item := self._redacted(kind, raw)) is not None]
                more = {} if happening.last else {"continue": "more"}
                yield {
                    "list": {
                        "kind": f"{happening.kind or kind.kind}List",
                        "apiVersion": happening.api_version or kind.api_version,
                        "metadata": {"resourceVersion": happening.version or "0", **more},
                        "items": items,
                    }
                }
            case tell.WatchStarted():
                yield _request(kind, happening.at_ms, f"?watch=1&resourceVersion={happening.from_version}")
            case tell.Frames():
                for frame in happening.frames:
                    item = self._redacted(kind, frame.shape or frame.object)
                    if item is not None:
                        yield {"frame": {"type": frame.type, "object": item}}
            case tell.Bookmark():
                mark = {
                    "kind": kind.kind,
                    "apiVersion": kind.api_version,
                    "metadata": {"resourceVersion": happening.version},
                }
                yield {"frame": {"type": "BOOKMARK", "object": mark}}
            case tell.Expired():
                yield {"frame": {"type": "ERROR", "object": _EXPIRED[happening.why is Why.AHEAD]}}
            case tell.Forbidden():
                yield {"error": _status(403, "Forbidden", happening.message)}
            case tell.NotServed():
                yield {"error": _status(404, "NotFound", happening.message)}
            case tell.Retrying(doing=Doing.LIST) if happening.action not in _TOLD_BY_THEMSELVES:
                yield {"error": _status(503, "ServiceUnavailable", happening.error)}
            case tell.BadLines():
                self.skipped += len(happening.lines)
            case tell.StreamEnded():
                yield {"end": {"reason": _ENDS[happening.how], "detail": happening.detail}}

    def _redacted(self, kind: Kind, found: msgspec.Raw | Shape) -> Shape | None:
        try:
            shape = found if isinstance(found, Shape) else shapes.decode(kind.group, kind.kind, found)
        except Terminal:
            self.skipped += 1
            return None
        shapes.redact(shape, kind.annotations | self._annotations)
        return shape


def _status(code: int, reason: str, message: str) -> dict[str, Any]:
    return {
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": message,
    }  # fmt: skip


_EXPIRED = {
    False: _status(410, "Expired", "the version is too old"),
    True: _status(504, "Timeout", "Too large resource version"),
}
_TOLD_BY_THEMSELVES = (Action.DISABLE_KEEP_OTHERS, Action.NOT_SERVED)


def _request(kind: Kind, at_ms: int, query: str, status: int = 200) -> dict[str, Any]:
    resource = Resource(kind.group, kind.versions[0], kind.plural, kind.kind, kind.namespaced)
    target = resource.path() + query
    return {"request": {"method": "GET", "target": target, "sent": at_ms, "status": status}}
