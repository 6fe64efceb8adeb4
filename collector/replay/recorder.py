"""Writes what watches tell as a recording that a replay can read, after the same redaction as the spool.

The form is that of `recording`. What a reflector does not tell (headers, the exact query) is not made up: a request
line holds the path and what decides how the lines after it are read.
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
from pipeline.kubeapi.happenings import Happening, How
from pipeline.kubeapi.resources import Resource
from pipeline.records import shapes

_ENDS = {How.ORDERLY: "eof", How.ERROR: "error frame", How.CONNECTION: "connection", How.SILENT: "connection"}
_EXPIRED = {
    "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410,
    "message": "the version is too old",
}  # fmt: skip


class Recorder:
    """Opens an empty folder; one file a watch. Raises UserError when the folder holds something."""

    def __init__(self, folder: Path, cluster: str, kinds: Iterable[Kind], annotations: frozenset[str]) -> None:
        if folder.exists() and any(folder.iterdir()):
            raise UserError("the folder is not empty", where=str(folder), fix="Name a folder that does not exist yet.")
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._cluster = cluster
        self._kinds = {kind.name: kind for kind in kinds}
        self._annotations = annotations
        self._files: dict[str, gzip.GzipFile] = {}
        self.lines = 0
        self.skipped = 0
        """Objects that could not be read, which a recording cannot hold since they cannot be redacted."""

    def take(self, watch: str, happening: Happening) -> None:
        """Writes one happening of one watch."""
        for line in self._lines(self._kinds[watch], happening):
            if watch not in self._files:
                self._files[watch] = gzip.open(self._folder / f"{watch}.ndjson.gz", "wb")  # noqa: SIM115
            self._files[watch].write(msgspec.json.encode({"t": happening.at_ms, "watch": watch, **line}) + b"\n")
            self.lines += 1

    def close(self) -> None:
        """Ends the files and writes the manifest."""
        for file in self._files.values():
            file.close()
        manifest = Manifest(files=sorted(f"{watch}.ndjson.gz" for watch in self._files), cluster=self._cluster)
        (self._folder / "manifest.json").write_bytes(msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")

    def _lines(self, kind: Kind, happening: Happening) -> Iterator[dict[str, Any]]:
        match happening:
            case tell.ListStarted():
                yield _request(kind, happening.at_ms, "")
            case tell.ListRestarted():
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
                    item = self._redacted(kind, frame.object)
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
                yield {"frame": {"type": "ERROR", "object": _EXPIRED}}
            case tell.StreamEnded():
                yield {"end": {"reason": _ENDS[happening.how], "detail": happening.detail}}

    def _redacted(self, kind: Kind, raw: msgspec.Raw) -> shapes.Shape | None:
        try:
            shape = shapes.decode(kind.group, kind.kind, raw)
        except Terminal:
            self.skipped += 1
            return None
        shapes.redact(shape, kind.annotations | self._annotations)
        return shape


def _request(kind: Kind, at_ms: int, query: str) -> dict[str, Any]:
    resource = Resource(kind.group, kind.versions[0], kind.plural, kind.kind, kind.namespaced)
    target = resource.path() + query
    return {"request": {"method": "GET", "target": target, "sent": at_ms, "status": 200}}
