"""The OpenAPI document: routes as the framework sees them, objects as `dashboards.objects` defines them."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from dashboards import objects
from dashboards.api import problems

ANSWERS = (
    objects.Jobs, objects.JobDetail, objects.Why, objects.Violations, objects.Queues, objects.Reasons, objects.Overview,
    objects.Pipeline, objects.Meta, objects.Problem,
)  # fmt: skip
_REF = "#/components/schemas/"
_ERRORS = {
    "400": "what is asked cannot be understood",
    "404": "what is asked for does not exist",
    "422": "a parameter has a value that cannot be; the hint names those that can",
    "503": "the warehouse does not answer",
}


def gives(kind: type[msgspec.Struct]) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route whose answer is of this kind."""
    text = " ".join((kind.__doc__ or "").split())
    schema = {"$ref": _REF + kind.__name__}
    return {
        200: {"description": text, "content": {"application/json": {"schema": schema}}},
        304: {"description": "nothing has changed since the answer with this ETag"},
    }


def install(app: FastAPI) -> None:
    """Makes `app.openapi()` the whole document."""

    def made() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = document(app)
        return app.openapi_schema

    app.openapi = made  # type: ignore[method-assign]


def document(app: FastAPI) -> dict[str, Any]:
    """OpenAPI 3.1."""
    found = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes, openapi_version="3.1.0"
    )
    _, schemas = msgspec.json.schema_components(ANSWERS, ref_template=_REF + "{name}")
    found.setdefault("components", {})["schemas"] = schemas
    for operations in found["paths"].values():
        for operation in operations.values():
            operation["responses"] |= {status: _problem(text) for status, text in _ERRORS.items()}
    return found


def _problem(text: str) -> dict[str, Any]:
    return {"description": text, "content": {problems.MEDIA_TYPE: {"schema": {"$ref": _REF + "Problem"}}}}
