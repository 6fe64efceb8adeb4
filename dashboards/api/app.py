"""The app: every router in its place."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fastapi import Depends, FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp

from dashboards.address import SERVER
from dashboards.api import (
    described,
    jobs,
    meta,
    narrowing,
    overview,
    page,
    pipeline,
    problems,
    queues,
    reasons,
    violations,
)
from dashboards.api.answering import Service
from dashboards.api.guard import Guard
from dashboards.api.hosts import Hosts

PREFIX = "/api/v1"
ROUTERS = tuple(noun.router for noun in (jobs, violations, queues, reasons, overview, pipeline, meta))
"""One a noun, in the order in which they are described."""
_LEAST_ZIPPED_BYTES = 2048
_ABOUT = """\
Why jobs on a shared GPU cluster wait, for how long because of what, and whether their promises are kept.

Times are milliseconds since 1970 UTC, lengths milliseconds. `now_ms` is log time: up to then waits are judged. What is not
known is null. Errors are problem details (RFC 9457). Fields may be added; those that are here keep name and meaning.
"""


def create(service: Service, *, root_path: str = "", hosts: Iterable[str] = (), static: Path = page.FOLDER) -> ASGIApp:
    """The whole app, with its guard around it."""
    return Guard(framework(service, static=static), f"{SERVER}/{service.version}", root_path, Hosts(hosts))


def framework(service: Service, *, static: Path = page.FOLDER) -> FastAPI:
    """The app as the framework has it."""
    app = FastAPI(
        title="kube-collector",
        version=service.version,
        description=_ABOUT,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    app.add_middleware(GZipMiddleware, minimum_size=_LEAST_ZIPPED_BYTES, compresslevel=5)
    problems.install(app)
    described.install(app)
    for router in ROUTERS:
        app.include_router(router, prefix=PREFIX, dependencies=[Depends(narrowing.only_known)])
    app.router.routes.extend(page.router(static).routes)
    return app
