"""Which job a person means by a name. None is guessed: of several all are named, of none the nearest."""

from __future__ import annotations

from typing import Any

import msgspec

from dashboards.asking.source import Source
from dashboards.filters import Filters, Named
from pipeline.config.suggest import closest
from pipeline.errors import BadUsage, NotFound

_MOST = 500
_SAME = 2


class Found(msgspec.Struct, frozen=True):
    """The job, and the log time at which it was found."""

    named: Named
    now_ms: int | None


def one(source: Source, text: str, filters: Filters, kind: str | None = None) -> Found:
    """The one job of this name, or `KIND/NAME`. Raises NotFound, or BadUsage when there are several."""
    before, slash, name = text.rpartition("/")
    kind = before if slash else kind
    answer = source.jobs(msgspec.structs.replace(filters, name=(name,)), "-created", _MOST, None)
    jobs = [item["job"] for item in answer["items"]]
    if kind:
        jobs = [job for job in jobs if job["kind"].lower() == kind.lower()]
    known = list(dict.fromkeys(Named(job["cluster"], job["namespace"], job["kind"], job["name"]) for job in jobs))
    if len(known) == 1:
        return Found(known[0], answer["now_ms"])
    if known:
        raise BadUsage(
            f"{len(known)} jobs are called {name}:" + "".join(f"\n  {_shown(each)}" for each in known),
            fix="Say which one with -n, --kind or --cluster.",
        )
    raise NotFound(f"there is no job {name}{_within(filters, kind)}", fix=_advice(source, name, filters))


def _advice(source: Source, name: str, filters: Filters) -> str:
    """Where the job is instead, or what it may be called."""
    everywhere = Filters(name=(name,))
    if filters != Filters():
        elsewhere = source.jobs(everywhere, "-created", 1, None)["items"]
        if elsewhere:
            return f"There is one elsewhere: {_shown(_named(elsewhere[0]['job']))}."
    near: set[str] = set()
    for part in dict.fromkeys((name[:_SAME], name[-_SAME:])):
        items = source.jobs(msgspec.structs.replace(filters, text=part), "-created", _MOST, None)["items"]
        near |= {item["job"]["name"] for item in items}
    match = closest(name, near)
    return f"Did you mean {match}?" if match else "`kube-collector jobs -A` lists the jobs that are known."


def _within(filters: Filters, kind: str | None) -> str:
    parts = [f"kind {kind}"] if kind else []
    parts += [f"namespace {each}" for each in filters.namespace] + [f"cluster {each}" for each in filters.cluster]
    return f" in {', '.join(parts)}" if parts else ""


def _named(job: dict[str, Any]) -> Named:
    return Named(job["cluster"], job["namespace"], job["kind"], job["name"])


def _shown(named: Named) -> str:
    return f"{named.kind}/{named.name} in namespace {named.namespace} of cluster {named.cluster}"
