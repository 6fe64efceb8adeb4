"""Broken promises."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from msgspec import structs
from starlette.requests import Request
from starlette.responses import Response

from dashboards import objects
from dashboards.api import answering, described
from dashboards.api.narrowing import Cursor, Limit, Narrowed, Texts, text
from dashboards.figures import violations
from dashboards.filters import made

router = APIRouter(prefix="/violations", tags=["violations"], default_response_class=Response)


@router.get("", operation_id="listViolations", responses=described.gives(objects.Violations))
def listed(
    request: Request,
    filters: Narrowed,
    state: Annotated[Texts, text("open, resolved or withdrawn")] = None,
    limit: Limit = violations.USUAL,
    cursor: Cursor = None,
) -> Response:
    """Broken promises, latest first; the filters `phase` and `sla` say nothing here."""
    wanted = structs.replace(filters, state=made({"state": state}).state)
    return answering.answer(request, lambda asked: violations.listed(asked, wanted, limit, cursor))
