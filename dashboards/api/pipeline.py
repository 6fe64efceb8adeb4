"""The pipeline itself."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from dashboards import objects
from dashboards.api import answering, described
from dashboards.api.narrowing import Lang
from dashboards.figures import pipeline

router = APIRouter(prefix="/pipeline", tags=["pipeline"], default_response_class=Response)


@router.get("", operation_id="getPipeline", responses=described.gives(objects.Pipeline))
def made(request: Request, lang: Lang = None) -> Response:
    """Stages, watches, dead letters and counters; what the warehouse knows is null while it does not answer."""
    del lang
    status = answering.service(request).status
    return answering.unmarked(request, lambda asked: pipeline.made(asked, status))
