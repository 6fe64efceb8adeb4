"""Jobs: the list, one job, and why it waits."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from dashboards import objects
from dashboards.api import answering, described
from dashboards.api.narrowing import Cursor, Limit, OfJobs, TheJob
from dashboards.figures import job, jobs
from dashboards.filters import moment

MOST_EPISODE = 2**31 - 1

router = APIRouter(prefix="/jobs", tags=["jobs"], default_response_class=Response)


@router.get("", operation_id="listJobs", responses=described.gives(objects.Jobs))
def listed(
    request: Request,
    filters: OfJobs,
    sort: Annotated[str, Query(description="wait, created, deadline or name; `-` turns it round")] = jobs.DEFAULT_SORT,
    limit: Limit = jobs.USUAL,
    cursor: Cursor = None,
) -> Response:
    """Jobs, one row each: its latest wait, what led it, and what holds it now."""
    return answering.answer(request, lambda asked: jobs.listed(asked, filters, sort, limit, cursor))


@router.get("/{cluster}/{namespace}/{kind}/{name}", operation_id="getJob", responses=described.gives(objects.JobDetail))
def one(request: Request, named: TheJob) -> Response:
    """One job: all its waits with their parts, and the newest of its events."""
    return answering.answer(request, lambda asked: job.detail(asked, named))


@router.get("/{cluster}/{namespace}/{kind}/{name}/why", operation_id="whyJob", responses=described.gives(objects.Why))
def why(
    request: Request,
    named: TheJob,
    at: Annotated[
        str | None, Query(description="a moment, RFC 3339 or milliseconds; without it now (log time)")
    ] = None,
    episode: Annotated[
        int | None, Query(ge=1, le=MOST_EPISODE, description="which wait; without it the one of the moment")
    ] = None,
    rebuild: Annotated[
        bool, Query(description="with `at`: if no decision of a scheduler is stored, make it anew from the log; slow")
    ] = False,
) -> Response:
    """Why the job waits, or waited at a moment: a sentence, the reasons with their shares, what a scheduler sees, and what
    would help."""
    at_ms = None if at is None else moment("at", at)
    return answering.answer(request, lambda asked: job.why(asked, named, at_ms, episode, rebuild=rebuild))
