"""Jobs: the list, one job, and why it waits."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from dashboards import objects
from dashboards.api import answering, described
from dashboards.api.narrowing import AJob, At, Cursor, Limit, OfJobs, Rebuild, TheJob
from dashboards.figures import job, jobs, naming
from dashboards.filters import moment

MOST_EPISODE = 2**31 - 1

router = APIRouter(tags=["jobs"], default_response_class=Response)
_ONE = "/jobs/{cluster}/{namespace}/{kind}/{name}"


@router.get("/jobs", operation_id="listJobs", responses=described.gives(objects.Jobs))
def listed(
    request: Request,
    filters: OfJobs,
    sort: Annotated[str, Query(description="wait, created, deadline or name; `-` turns it round")] = jobs.DEFAULT_SORT,
    limit: Limit = jobs.USUAL,
    cursor: Cursor = None,
) -> Response:
    """Jobs, one row each: its latest wait, what led it, and what holds it now."""
    return answering.answer(request, lambda asked: jobs.listed(asked, filters, sort, limit, cursor))


@router.get(_ONE, operation_id="getJob", responses=described.gives(objects.JobDetail))
def one(request: Request, named: TheJob) -> Response:
    """One job: all its waits with their parts, and the newest of its events."""
    return answering.answer(request, lambda asked: job.detail(asked, naming.addressed(asked, named)))


@router.get(f"{_ONE}/why", operation_id="whyJob", responses=described.gives(objects.Why))
def why(
    request: Request,
    named: TheJob,
    at: At = None,
    episode: Annotated[
        int | None, Query(ge=1, le=MOST_EPISODE, description="which wait; without it the one of the moment")
    ] = None,
    rebuild: Rebuild = False,
) -> Response:
    """Why the job waits, or waited at a moment: a sentence, the reasons with their shares, what a scheduler sees, and what
    would help."""
    at_ms = None if at is None else moment("at", at)
    return answering.answer(
        request, lambda asked: job.why(asked, naming.addressed(asked, named), at_ms, episode, rebuild=rebuild)
    )


@router.get("/job", operation_id="findJob", responses=described.gives(objects.JobDetail))
def called(request: Request, wanted: AJob) -> Response:
    """One job by its name alone, as `/jobs/{cluster}/{namespace}/{kind}/{name}` gives it."""
    return answering.answer(request, lambda asked: job.detail(asked, naming.wanted(asked, wanted)))


@router.get("/why", operation_id="whyCalled", responses=described.gives(objects.Why))
def why_called(request: Request, wanted: AJob, at: At = None, rebuild: Rebuild = False) -> Response:
    """Why a job waits, by its name alone: one question instead of a search and a question."""
    at_ms = None if at is None else moment("at", at)
    return answering.answer(request, lambda asked: job.why(asked, naming.wanted(asked, wanted), at_ms, rebuild=rebuild))
