"""From a request to bytes: the language, the mark of the data, 304, the JSON.

The mark (ETag) is made of the log times of all stages and whether a replay is over: while they stand still, answers do. Only
how long ago the data was loaded goes on; that stands in a header too, so that it comes with a 304 as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from dashboards.explaining import Explain
from dashboards.figures.asked import Asked, Status, fresh
from dashboards.filters import language
from dashboards.objects import Fresh
from dashboards.store import Store
from pipeline import clock
from pipeline.records import words

LAG_HEADER = "Kube-Collector-Lag-Ms"
"""`lag_ms` of the answer, also of one that is not sent again."""
_CACHING = {"Cache-Control": "private, no-cache", "Vary": "Accept-Language"}


class Service(NamedTuple):
    """What every route works with. `status` None: this process runs no other stage; `explain` None: no log is at hand."""

    store: Store
    version: str
    lag_alarm_ms: int
    status: Status | None = None
    explain: Explain | None = None


def service(request: Request) -> Service:
    """The service of the request's app."""
    found: Service = request.app.state.service
    return found


def answer(request: Request, make: Callable[[Asked], Any]) -> Response:
    """The object that `make` gives, or 304 if the client has it already."""
    asked = of(request)
    how = fresh(asked)
    mark = _mark(asked, how, service(request).version, request)
    lag = {} if how.lag_ms is None else {LAG_HEADER: str(how.lag_ms)}
    headers = _CACHING | ({"ETag": mark} if mark else {}) | lag
    if mark and mark in _known(request):
        return Response(status_code=304, headers=headers)
    return Response(msgspec.json.encode(make(asked)), 200, headers, "application/json")


def unmarked(request: Request, make: Callable[[Asked], Any]) -> Response:
    """As `answer`, of something that changes by itself."""
    return Response(msgspec.json.encode(make(of(request))), 200, {"Cache-Control": "no-store"}, "application/json")


def of(request: Request) -> Asked:
    """Store, language and clock of a request."""
    wanted = request.query_params.get("lang")
    lang = language(wanted) if wanted else words.language(request.headers.get("accept-language"))
    given = service(request)
    return Asked(given.store, lang, clock.now_ms(), given.explain, given.status)


def _mark(asked: Asked, how: Fresh, version: str, request: Request) -> str | None:
    rows = asked.store.rows("progress")
    if not rows:
        return None
    parts = [version, asked.lang, request.url.path, request.url.query, str(how.replay_over)]
    parts += [f"{row['cluster']}/{row['stage']}/{row['log_at']}" for row in rows]
    return f'W/"{hashlib.blake2b(chr(0).join(parts).encode(), digest_size=12).hexdigest()}"'


def _known(request: Request) -> list[str]:
    return [mark.strip() for mark in request.headers.get("if-none-match", "").split(",")]
