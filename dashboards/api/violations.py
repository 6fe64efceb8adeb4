"""Broken promises."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from dashboards import objects
from dashboards.api import answering, described
from dashboards.api.narrowing import Cursor, Limit, OfViolations
from dashboards.figures import violations

router = APIRouter(prefix="/violations", tags=["violations"], default_response_class=Response)


@router.get("", operation_id="listViolations", responses=described.gives(objects.Violations))
def listed(
    request: Request,
    filters: OfViolations,
    limit: Limit = violations.USUAL,
    cursor: Cursor = None,
) -> Response:
    """Broken promises, latest first."""
    return answering.answer(request, lambda asked: violations.listed(asked, filters, limit, cursor))
