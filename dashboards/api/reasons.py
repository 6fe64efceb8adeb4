"""Waiting time by reason."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from dashboards import objects
from dashboards.api import answering, described
from dashboards.api.narrowing import OfReasons
from dashboards.figures import reasons
from dashboards.filters import bucket_ms, moment

router = APIRouter(prefix="/reasons", tags=["reasons"], default_response_class=Response)


@router.get("", operation_id="sumReasons", responses=described.gives(objects.Reasons))
def made(
    request: Request,
    filters: OfReasons,
    from_: Annotated[str | None, Query(alias="from", description="RFC 3339 or milliseconds")] = None,
    to: Annotated[str | None, Query(description="RFC 3339 or milliseconds; without it the log time")] = None,
    bucket: Annotated[str, Query(description="auto, or a duration such as 30s or 1h")] = "auto",
    unit: Annotated[Literal["jobs", "gpus"], Query(description="count jobs, or the GPUs that they ask for")] = "jobs",
) -> Response:
    """Waiting by reason over time and summed; without a range the last day that there is data of."""
    from_ms = None if from_ is None else moment("from", from_)
    to_ms = None if to is None else moment("to", to)
    width_ms = bucket_ms(bucket)
    return answering.answer(request, lambda asked: reasons.made(asked, filters, from_ms, to_ms, width_ms, unit))
