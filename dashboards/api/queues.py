"""Queues."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from dashboards import objects
from dashboards.api import answering, described
from dashboards.api.narrowing import OfIdentity
from dashboards.figures import queues

router = APIRouter(prefix="/queues", tags=["queues"], default_response_class=Response)


@router.get("", operation_id="listQueues", responses=described.gives(objects.Queues))
def listed(request: Request, filters: OfIdentity) -> Response:
    """Queues, the one with the most waiting first."""
    return answering.answer(request, lambda asked: queues.listed(asked, filters))
