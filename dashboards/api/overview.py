"""The first look."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from dashboards import objects
from dashboards.api import answering, described
from dashboards.api.narrowing import OfIdentity
from dashboards.figures import overview

router = APIRouter(prefix="/overview", tags=["overview"], default_response_class=Response)


@router.get("", operation_id="getOverview", responses=described.gives(objects.Overview))
def made(request: Request, filters: OfIdentity) -> Response:
    """Promises kept and broken, open waits, the longest, those at risk, the newest violations, the top reasons."""
    return answering.answer(request, lambda asked: overview.made(asked, filters))
