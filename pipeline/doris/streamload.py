"""The Stream Load client: one table's rows, at most once per label, with every outcome known before it returns.

A load takes two steps, on purpose. The frontend (FE) takes no rows: it answers 307 with the address of a backend (BE).
An HTTP library that follows by itself either sends the rows to FE first, which newer frontends answer by closing the
connection, or drops the password at the second host. So the first request has no body, the address is checked against
the hosts that may have the password, and the rows go there directly. The BE is kept for a while to spare the detour.

A reply that is lost after rows were sent says nothing about the load. The client then asks FE for the state of the
label and only says "try again" when Doris says that the label is free.

Deletions and order: the tables map the visible column `version` to the sequence (table property
`function_column.sequence_col`); a load without a `columns` header that names `__DORIS_DELETE_SIGN__` in
`hidden_columns` fills both. Doris' planner adds the sequence mapping by itself when no columns are named
(`NereidsLoadScanProvider.handleSequenceColumn`) and reads hidden columns from the rows' JSON beside the visible ones
(`fillContextExprMap`), so no `merge_type` is wanted. A row whose sequence is lower than the stored one changes nothing.
"""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import httpx

from pipeline import clock
from pipeline.doris import errors, replies
from pipeline.doris.settings import Settings

BACKEND_KEPT_S = 30.0
"""So long one BE takes the loads before FE is asked again: long enough to spare requests, short enough to spread."""
SETTLE_S = 30.0
"""So long the state of an undecided label is asked for; FE's `publish_version_timeout_second` is the same."""
SETTLE_STEP_S = 0.25
MAX_ERROR_LOG_BYTES = 4096

_HEADERS = {
    "Expect": "100-continue",  # FE refuses a load without it
    "format": "json",
    "read_json_by_line": "true",
    "strict_mode": "true",  # else a value that does not fit becomes NULL, silently
    "max_filter_ratio": "0",
    "timezone": "UTC",
    "hidden_columns": "__DORIS_DELETE_SIGN__",
}
_DONE = {"VISIBLE": replies.Outcome.ALREADY_LOADED, "COMMITTED": replies.Outcome.NOT_YET_VISIBLE}
_FREE = {"ABORTED", "UNKNOWN"}


class StreamLoad:
    """Loads rows into the tables of one database. Safe to use from several threads."""

    def __init__(
        self,
        settings: Settings,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._settings = settings
        self._auth = httpx.BasicAuth(settings.user, settings.secret)
        self._allowed = settings.backends or (settings.host,)
        self._backend: tuple[str, float] | None = None
        self._sleep = sleep
        timeout = httpx.Timeout(settings.load_timeout + 10, connect=settings.connect_timeout)
        # No proxy from the environment: the rows go to hosts inside, and the password with them.
        self._http = httpx.Client(timeout=timeout, transport=transport, follow_redirects=False, trust_env=False)

    def __enter__(self) -> StreamLoad:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def load(self, table: str, lines: bytes, *, rows: int, label: str) -> replies.Result:
        """Loads `rows` JSON objects, one a line. The same label loads at most once.

        Raises, with nothing loaded: BadRows (at least one row does not fit), Busy, Refused, Offline (all Transient: the
        same call may succeed later) and RowsLost (go again under another label). After Offline the outcome may be open
        still; the same label settles it.
        """
        backend = self._find_backend(table)
        headers = {**_HEADERS, "label": label, "timeout": str(int(self._settings.load_timeout))}
        try:
            answer = self._http.put(f"{backend}{self._path(table)}", content=lines, headers=headers, auth=self._auth)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            self._backend = None
            raise errors.Offline(f"backend {backend} does not answer: {error}") from error
        except httpx.TransportError as error:
            self._backend = None
            return self._settle(label, f"the reply of {backend} was lost: {type(error).__name__} {error}")
        if answer.status_code >= 500:
            self._backend = None
            return self._settle(label, f"{backend} answered HTTP {answer.status_code}")
        return self._verdict(answer, label, rows)

    def label_state(self, label: str) -> str:
        """UNKNOWN, PREPARE, PRECOMMITTED, COMMITTED, VISIBLE or ABORTED, as FE says. Raises Offline or Refused."""
        url = f"{self._settings.http_url}/api/{self._settings.database}/get_load_state"
        reply = replies.decode(self._ask("GET", url, params={"label": label}).content)
        if reply.get("code") not in {0, "0"} or not isinstance(reply.get("data"), str):
            raise _refusal(replies.message_of(reply))
        return str(reply["data"])

    def _verdict(self, answer: httpx.Response, label: str, rows: int) -> replies.Result:
        try:
            reply = replies.decode(answer.content)
        except errors.Offline as error:
            return self._settle(label, str(error))
        try:
            return replies.judge(reply, label, rows)
        except replies.Undecided as undecided:
            return self._settle(label, f"label {label} is {undecided.state}")
        except errors.BadRows as error:
            error.details = self._error_log(reply)
            raise
        except (errors.Offline, errors.Refused):
            self._backend = None
            raise

    def _settle(self, label: str, why: str) -> replies.Result:
        """Asks for the label's state until it is decided. Raises Offline when it is free, or still open at the end."""
        deadline = clock.monotonic_s() + SETTLE_S
        while True:
            state = self.label_state(label)
            if state in _DONE:
                return replies.Result(_DONE[state], label)
            if state in _FREE:
                raise errors.Offline(f"{why}; nothing was loaded")
            if clock.monotonic_s() >= deadline:
                raise errors.Offline(f"{why}; label {label} is still {state}")
            self._sleep(SETTLE_STEP_S)

    def _find_backend(self, table: str) -> str:
        """`http://host:port` of a backend that may have the password."""
        known = self._backend
        if known is not None and clock.monotonic_s() < known[1]:
            return known[0]
        headers = {"Expect": "100-continue"}
        answer = self._ask("PUT", f"{self._settings.http_url}{self._path(table)}", headers=headers)
        if not answer.is_redirect:
            raise _refusal(replies.message_of(replies.decode(answer.content)))
        # The password stands in the address; it is neither used nor shown.
        target = urlsplit(answer.headers.get("location", ""))
        host = target.hostname or ""
        if not self._is_allowed(host):
            raise errors.Refused(
                f"the frontend sends loads on to {host!r}, which may not have the password; add it to doris.backends",
                retry_after_s=replies.REFUSED_RETRY_S,
            )
        bracketed = f"[{host}]" if ":" in host else host
        backend = f"{target.scheme}://{bracketed}:{target.port or 8040}"
        self._backend = (backend, clock.monotonic_s() + BACKEND_KEPT_S)
        return backend

    def _ask(self, method: str, url: str, **more: Any) -> httpx.Response:
        """A request to FE without rows. Raises Offline."""
        try:
            answer = self._http.request(
                method, url, auth=self._auth, timeout=self._settings.connect_timeout + 5, **more
            )
        except httpx.TransportError as error:
            raise errors.Offline(f"frontend {self._settings.frontend} does not answer: {error}") from error
        if answer.status_code >= 500:
            raise errors.Offline(f"frontend {self._settings.frontend} answered HTTP {answer.status_code}")
        return answer

    def _error_log(self, reply: dict[str, Any]) -> str:
        """The first lines that say which rows were bad; best effort, the address is the backend's own."""
        first = str(reply.get("FirstErrorMsg") or "")
        url = str(reply.get("ErrorURL") or "")
        if not url or not self._is_allowed(urlsplit(url).hostname or ""):
            return first
        try:
            answer = self._http.get(url, timeout=self._settings.connect_timeout)
        except httpx.HTTPError:
            return first
        return answer.text[:MAX_ERROR_LOG_BYTES] if answer.status_code == 200 else first

    def _is_allowed(self, host: str) -> bool:
        return any(fnmatch.fnmatchcase(host.lower(), pattern.lower()) for pattern in self._allowed)

    def _path(self, table: str) -> str:
        return f"/api/{self._settings.database}/{table}/_stream_load"


def _refusal(message: str) -> errors.Busy | errors.Refused:
    """A frontend's refusal. Without a redirect no row was sent, so what is not known to pass by itself needs a person."""
    found = replies.failure(message)
    return found if isinstance(found, errors.Busy) else errors.Refused(message, retry_after_s=replies.REFUSED_RETRY_S)
