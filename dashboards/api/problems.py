"""Errors as clients see them: problem details (RFC 9457) with a hint on what to do.

`type` is one of few URNs and never changes its meaning; texts may.
"""

from __future__ import annotations

from http import HTTPStatus

import msgspec
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from dashboards.filters import NoSuchValue
from dashboards.objects import Problem
from pipeline.doris.errors import QueryFailed
from pipeline.errors import BadUsage, KubeCollectorError, NotFound, Transient, Unreachable, UserError
from pipeline.telemetry import logs

MEDIA_TYPE = "application/problem+json"
PREFIX = "urn:kube-collector:problem:"
RETRY_AFTER_S = 2

log = logs.get(__name__)

_STATUS: tuple[tuple[type[KubeCollectorError], int, str], ...] = (
    (NotFound, 404, "not_found"),
    (NoSuchValue, 422, "no_such_value"),
    (BadUsage, 400, "bad_request"),
    (Unreachable, 503, "unreachable"),
    (Transient, 503, "unreachable"),
    (QueryFailed, 502, "query_failed"),
    (KubeCollectorError, 500, "failed"),
)


def install(app: FastAPI) -> None:
    """Makes every error of the app a problem."""
    app.add_exception_handler(KubeCollectorError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


def response(request: Request, status: int, kind: str, detail: str, hint: str | None = None) -> Response:
    """The answer for one problem."""
    problem = Problem(
        type=PREFIX + kind,
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        instance=request.url.path,
        hint=hint,
    )
    headers = {"Cache-Control": "no-store"}
    if status == 503:
        headers["Retry-After"] = str(RETRY_AFTER_S)
    return Response(msgspec.json.encode(problem), status, headers, MEDIA_TYPE)


def misdirected(request: Request) -> Response:
    """The answer to a request that names another host."""
    host = request.headers.get("host", "")
    name = host.rsplit(":", 1)[0]
    return response(
        request, 421, "misdirected", f"nothing is shown under the name {host!r}",
        f"If {name} is to show this page, add it to `dashboards.hosts`.",
    )  # fmt: skip


async def _ours(request: Request, error: Exception) -> Response:
    status, kind = next((status, kind) for type_, status, kind in _STATUS if isinstance(error, type_))
    if isinstance(error, UserError):
        return response(request, status, kind, f"{error.where}: {error.what}" if error.where else error.what, error.fix)
    if isinstance(error, QueryFailed):
        log.error("question_refused", error=str(error), code=error.code, statement=error.statement[:2000])
        hint = "Its tables may be of another version: see `kube-collector schema plan`."
        return response(request, status, kind, f"the warehouse refused the question: {error}", hint)
    return response(request, status, kind, str(error))


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError), "it is registered for this type"
    found = [f"{'.'.join(str(step) for step in each['loc'][1:])}: {each['msg']}" for each in error.errors()]
    listed = all(each["type"] == "literal_error" for each in error.errors())
    status, kind = (422, "no_such_value") if listed else (400, "bad_request")
    return response(request, status, kind, "; ".join(found), "See /api/v1/openapi.json for what can be asked.")


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException), "it is registered for this type"
    kind = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "failed")
    detail = f"there is nothing at {request.url.path}" if error.status_code == 404 else str(error.detail)
    hint = "The API is described in /api/v1/openapi.json." if error.status_code in (404, 405) else None
    answer = response(request, error.status_code, kind, detail, hint)
    answer.headers.update(error.headers or {})
    return answer


async def _unexpected(request: Request, error: Exception) -> Response:
    log.exception("request_failed", error=error, path=request.url.path)
    hint = "This is a fault of kube-collector; its log has the stack."
    return response(request, 500, "failed", f"unexpected {type(error).__name__}", hint)
