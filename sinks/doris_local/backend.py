"""The backend's HTTP face: takes the bodies of Stream Loads and answers in Doris' response fields.

Every load is answered with status 200; `Status` in the JSON tells how it went.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from pathlib import Path

import msgspec

from sinks.doris_local import load_headers, translate
from sinks.doris_local.access import Access
from sinks.doris_local.catalog import Catalog
from sinks.doris_local.errors import SqlError
from sinks.doris_local.faults import Faults
from sinks.doris_local.http import BadRequest, Request, Response
from sinks.doris_local.labels import Held, Labels
from sinks.doris_local.listener import HOST
from sinks.doris_local.load import MAX_DOCUMENT_BYTES, Loader, LoadFailed, Result

KEPT_ERROR_LOGS = 100
TOO_MANY_VERSIONS = (
    "[E-235]failed to init rowset builder. version count: 2001, exceed limit: 2000. "
    "Please reduce the frequency of loading data or adjust the max_tablet_version_num in be.conf to a larger value."
)

log = logging.getLogger(__name__)


class Backend:
    """`handle` answers one request. Set `port` before the first."""

    def __init__(
        self, access: Access, catalog: Catalog, labels: Labels, loader: Loader, faults: Faults, scratch: Path
    ) -> None:
        self._access = access
        self._catalog = catalog
        self._labels = labels
        self._loader = loader
        self._faults = faults
        self._scratch = scratch
        self._error_logs: dict[str, str] = {}
        self._lock = threading.Lock()
        self.port = 0

    def handle(self, request: Request) -> Response:
        match (request.method, request.path.strip("/").split("/")):
            case ("GET", ["api", "health"]):
                return Response(body=b'{"status": "OK","msg": "To Be Added"}')
            case ("GET", ["api", "_load_error_log"]):
                text = self._error_logs.get(request.query.get("file", ""), "")
                return Response(status=200 if text else 404, body=text.encode(), content_type="text/plain")
            case ("PUT", ["api", database, table, "_stream_load"]):
                return self._stream_load(request, database, table)
        return Response(status=404, body=b"not found", content_type="text/plain")

    def _stream_load(self, request: Request, database: str, table: str) -> Response:
        load = _Load(request.headers)
        try:
            self._check_head(request)
            load.label = load_headers.label(request.headers)
            if self._faults.hit("forgotten_label", table):
                self._labels.free(database, load.label)
            begun = self._begin(database, load)
            if isinstance(begun, Held):
                return load.already(begun)
            load.transaction_id = begun
        except LoadFailed as failure:
            return load.failed(str(failure))
        try:
            return self._run(request, database, table, load)
        except (LoadFailed, BadRequest) as failure:
            self._labels.free(database, load.label)
            return load.failed(str(failure), self._error_url(load.result))
        except BaseException:
            self._labels.free(database, load.label)
            raise

    def _check_head(self, request: Request) -> None:
        credentials = request.credentials()
        if credentials is None:
            raise LoadFailed("[NOT_AUTHORIZED]no valid Basic authorization")
        if not self._access.allows(*credentials):
            raise LoadFailed(
                "[ANALYSIS_ERROR]TStatus: errCode = 2, detailMessage = "
                f"Access denied for user '{credentials[0]}@{HOST}' (using password: YES)"
            )
        if request.chunked == (request.content_length is not None):
            raise LoadFailed(
                "[INVALID_ARGUMENT]content_length is empty and transfer-encoding!=chunked, "
                "please set content_length or transfer-encoding=chunked"
                if not request.chunked
                else "[INVALID_ARGUMENT]please do not set both content_length and transfer-encoding"
            )

    def _begin(self, database: str, load: _Load) -> int | Held:
        if not self._catalog.has_database(database):
            raise load_headers.analysis(f"unknown database, database={database}")
        return self._labels.begin(database, load.label)

    def _run(self, request: Request, database: str, table: str, load: _Load) -> Response:
        try:
            definition = self._catalog.table(database, table)
        except SqlError:
            raise load_headers.analysis(f"unknown table, tableName={table}") from None
        order = load_headers.order(definition, load.label, request.headers, translate.condition)
        if self._faults.hit("too_many_versions", table):
            raise LoadFailed(TOO_MANY_VERSIONS)
        _check_size(order.layout, request.content_length or 0)
        body = self._scratch / uuid.uuid4().hex
        try:
            with body.open("wb") as file:
                load.receive(request.body_to(file))
            if self._faults.hit("lost_request", table):
                self._labels.free(database, load.label)
                return Response(cut=True)
            self._loader.run(order, body, load.result)
        finally:
            body.unlink(missing_ok=True)
        if self._faults.hit("lost_reply", table):
            return Response(cut=True)
        status = "Publish Timeout" if self._faults.hit("publish_timeout", table) else "Success"
        return load.succeeded(status, self._error_url(load.result))

    def _error_url(self, result: Result) -> str | None:
        if not result.reasons:
            return None
        name = f"error_log_{uuid.uuid4().hex}"
        with self._lock:
            self._error_logs[name] = "\n".join(result.reasons) + "\n"
            while len(self._error_logs) > KEPT_ERROR_LOGS:
                self._error_logs.pop(next(iter(self._error_logs)))
        return f"http://{HOST}:{self.port}/api/_load_error_log?file={name}"


def _check_size(layout: str, count: int) -> None:
    if layout != "lines" and count > MAX_DOCUMENT_BYTES:
        raise LoadFailed(
            f"[INTERNAL_ERROR]The size of this batch exceed the max size [{MAX_DOCUMENT_BYTES}] of json type data "
            f"data [ {count} ]. Split the file, or use 'read_json_by_line'"
        )


class _Load:
    """What the answer tells about one load."""

    def __init__(self, headers: dict[str, str]) -> None:
        self.label = headers.get("label", "")
        self.comment = headers.get("comment", "")
        self.transaction_id = -1
        self.result = Result()
        self.bytes = 0
        self.receive_ms = 0
        self._began_ns = time.monotonic_ns()

    def receive(self, count: int) -> None:
        self.bytes = count
        self.receive_ms = self._elapsed_ms()

    def succeeded(self, status: str, error_url: str | None) -> Response:
        message = (
            "OK"
            if status == "Success"
            else "[PUBLISH_TIMEOUT]transaction commit successfully, BUT data will be visible later"
        )
        return self._answer(status=status, message=message, error_url=error_url)

    def failed(self, message: str, error_url: str | None = None) -> Response:
        self.result.loaded = 0
        log.info("load %s failed: %s", self.label, message)
        return self._answer(status="Fail", message=message, error_url=error_url)

    def already(self, held: Held) -> Response:
        existing = "RUNNING" if held.state == "PREPARE" else "FINISHED"
        message = (
            f"[LABEL_ALREADY_EXISTS]TStatus: errCode = 2, detailMessage = Label [{self.label}] has already been used, "
            f"relate to txn [{held.transaction_id}]"
        )
        return self._answer(status="Label Already Exists", message=message, existing=existing)

    def _elapsed_ms(self) -> int:
        return (time.monotonic_ns() - self._began_ns) // 1_000_000

    def _answer(
        self,
        *,
        status: str,
        message: str,
        existing: str | None = None,
        error_url: str | None = None,
    ) -> Response:
        fields: dict[str, object] = {
            "TxnId": self.transaction_id,
            "Label": self.label,
            "Comment": self.comment,
            "TwoPhaseCommit": "false",
            "Status": status,
        }
        if existing is not None:
            fields["ExistingJobStatus"] = existing
        result = self.result
        fields |= {
            "Message": message,
            "NumberTotalRows": result.total,
            "NumberLoadedRows": result.loaded,
            "NumberFilteredRows": result.filtered,
            "NumberUnselectedRows": 0,
            "LoadBytes": self.bytes,
            "LoadTimeMs": self._elapsed_ms(),
            "BeginTxnTimeMs": 0,
            "StreamLoadPutTimeMs": 0,
            "ReadDataTimeMs": result.read_ms,
            "WriteDataTimeMs": result.write_ms,
            "ReceiveDataTimeMs": self.receive_ms,
            "CommitAndPublishTimeMs": 0,
        }
        if error_url is not None:
            fields["ErrorURL"] = error_url
        body = msgspec.json.format(msgspec.json.encode(fields), indent=4)
        return Response(body=body + b"\n")
