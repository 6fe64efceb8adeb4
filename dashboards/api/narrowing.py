"""The query parameters that routes share."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Query

from dashboards import filters
from dashboards.filters import Filters, Named

Texts = list[str] | None
Lang = Annotated[str | None, Query(description="en or zh; without it the Accept-Language header decides")]


def text(what: str) -> object:
    """The parameter of a filter that takes several values."""
    return Query(description=f"{what}; several with commas, or by repeating it")


def _filters(
    cluster: Annotated[Texts, text("name of the cluster")] = None,
    namespace: Annotated[Texts, text("namespace of the job")] = None,
    tenant: Annotated[Texts, text("tenant of the job")] = None,
    queue: Annotated[Texts, text("queue that the job names")] = None,
    kind: Annotated[Texts, text("kind of the job")] = None,
    name: Annotated[Texts, text("whole name of the job")] = None,
    phase: Annotated[Texts, text("waiting, scheduled or cancelled")] = None,
    sla: Annotated[Texts, text("none, on_track, at_risk, violated, met, met_late or cancelled")] = None,
    reason: Annotated[Texts, text("code of the leading reason")] = None,
    q: Annotated[str | None, Query(description="text in the job's name, queue or uid", max_length=256)] = None,
    lang: Lang = None,
) -> Filters:
    del lang  # read from the request; here so that it is described
    given = {
        "cluster": cluster, "namespace": namespace, "tenant": tenant, "queue": queue, "kind": kind, "name": name,
        "phase": phase, "sla": sla, "reason": reason,
    }  # fmt: skip
    return filters.made(given, q)


def _named(
    cluster: Annotated[str, Path()],
    namespace: Annotated[str, Path()],
    kind: Annotated[str, Path()],
    name: Annotated[str, Path()],
    uid: Annotated[str, Query(description="which job of that name; without it the newest")] = "",
    lang: Lang = None,
) -> Named:
    del lang
    return Named(cluster, namespace, kind, name, uid)


Narrowed = Annotated[Filters, Depends(_filters)]
"""What the filters of the address say."""
TheJob = Annotated[Named, Depends(_named)]
"""Which job the address names."""
Limit = Annotated[int, Query(ge=1, le=500, description="items of a page")]
Cursor = Annotated[str | None, Query(description="`next` of the page before", max_length=4096)]
