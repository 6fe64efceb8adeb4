"""What there is to choose from."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from dashboards import objects
from dashboards.api import answering, described
from dashboards.api.narrowing import Lang
from dashboards.figures import meta

router = APIRouter(prefix="/meta", tags=["meta"], default_response_class=Response)


@router.get("", operation_id="getMeta", responses=described.gives(objects.Meta))
def made(request: Request, lang: Lang = None) -> Response:
    """Version, clusters, namespaces, queues, tenants, the closed list of reasons, languages."""
    del lang
    lag_alarm_ms = answering.service(request).lag_alarm_ms
    return answering.answer(request, lambda asked: meta.made(asked, lag_alarm_ms))
