"""The query parameters that routes share, and the refusal of those that a route does not have.

A route takes exactly the filters that narrow its answer. One that it does not know would leave a wider answer than was
asked for, without a word; so it is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import Depends, Path, Query
from starlette.requests import Request

from dashboards import filters
from dashboards.filters import Filters, Named, Wanted
from pipeline.config.suggest import did_you_mean
from pipeline.errors import BadUsage

Texts = list[str] | None
Given = dict[str, Texts]


def text(what: str) -> object:
    """The parameter of a filter that takes several values."""
    return Query(description=f"{what}; several with commas, or by repeating it")


Lang = Annotated[str | None, Query(description="en or zh; without it the Accept-Language header decides")]
Name = Annotated[Texts, text("whole name of the job")]
Reason = Annotated[Texts, text("code of the leading reason")]
Text = Annotated[str | None, Query(description="text in the job's name, queue or uid", max_length=256)]


def _identity(
    cluster: Annotated[Texts, text("name of the cluster")] = None,
    namespace: Annotated[Texts, text("namespace of the job")] = None,
    tenant: Annotated[Texts, text("tenant of the job, `-` for none")] = None,
    queue: Annotated[Texts, text("queue that the job names, `-` for none")] = None,
    kind: Annotated[Texts, text("kind of the job, in any case")] = None,
    lang: Lang = None,
) -> Given:
    del lang  # read from the request; here so that it is described
    return {"cluster": cluster, "namespace": namespace, "tenant": tenant, "queue": queue, "kind": kind}


Identity = Annotated[Given, Depends(_identity)]


def _of_identity(identity: Identity) -> Filters:
    return filters.made(identity)


def _of_reasons(
    identity: Identity, reason: Annotated[Texts, text("code of the reason that held the part")] = None
) -> Filters:
    return filters.made(identity | {"reason": reason})


def _of_jobs(
    identity: Identity,
    name: Name = None,
    phase: Annotated[Texts, text("waiting, placed (`scheduled` in answers) or cancelled")] = None,
    sla: Annotated[Texts, text("none, on_track, at_risk, violated, met, met_late or cancelled")] = None,
    reason: Reason = None,
    q: Text = None,
) -> Filters:
    return filters.made(identity | {"name": name, "phase": phase, "sla": sla, "reason": reason}, q)


def _of_violations(
    identity: Identity,
    name: Name = None,
    reason: Reason = None,
    state: Annotated[Texts, text("open, resolved or withdrawn")] = None,
    q: Text = None,
) -> Filters:
    return filters.made(identity | {"name": name, "reason": reason, "state": state}, q)


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


def _wanted(
    job: Annotated[str, Query(description="NAME, KIND/NAME or NAMESPACE/NAME", max_length=1024)],
    cluster: Annotated[Texts, text("name of the cluster")] = None,
    namespace: Annotated[Texts, text("namespace of the job")] = None,
    kind: Annotated[str, Query(description="kind of the job, in any case")] = "",
    uid: Annotated[str, Query(description="which job of that name; without it the newest")] = "",
    lang: Lang = None,
) -> Wanted:
    del lang
    made = filters.made({"cluster": cluster, "namespace": namespace})
    return Wanted(filters.job_name(job), made.cluster, made.namespace, filters.kind(kind) if kind else "", uid)


OfIdentity = Annotated[Filters, Depends(_of_identity)]
"""What the filters of the address say: by whose jobs."""
OfReasons = Annotated[Filters, Depends(_of_reasons)]
"""By whose jobs, and by reason."""
OfJobs = Annotated[Filters, Depends(_of_jobs)]
"""All that a list of jobs can be narrowed by."""
OfViolations = Annotated[Filters, Depends(_of_violations)]
"""All that a list of violations can be narrowed by."""
TheJob = Annotated[Named, Depends(_named)]
"""Which job the address names."""
AJob = Annotated[Wanted, Depends(_wanted)]
"""Which job is meant by a name, and where to look for it."""
At = Annotated[str | None, Query(description="a moment, RFC 3339 or milliseconds; without it now (log time)")]
Rebuild = Annotated[
    bool, Query(description="with `at`: if no decision of a scheduler is stored, make it anew from the log; slow")
]
Limit = Annotated[int, Query(ge=1, le=500, description="items of a page")]
Cursor = Annotated[str | None, Query(description="`next` of the page before", max_length=4096)]


def only_known(request: Request) -> None:
    """Raises BadUsage for a query parameter that the request's route does not have."""
    known = sorted(set(_parameters(request.scope["route"].dependant)))
    for name in request.query_params:
        if name not in known:
            listed = f"Use one of {', '.join(known)}." if known else "It takes none."
            raise BadUsage(f"there is no parameter {name!r} here{did_you_mean(name, known)}", fix=listed)


def _parameters(dependant: Any) -> Iterator[str]:
    """The names of the query parameters of a route's function and of all that it depends on."""
    yield from (field.alias for field in dependant.query_params)
    for each in dependant.dependencies:
        yield from _parameters(each)
