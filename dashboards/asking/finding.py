"""Which job a person means by a name. None is guessed: of several all are named, of none the nearest.

A name that was given to several jobs one after the other means the newest of them; who wants another names its uid.
"""

from __future__ import annotations

from typing import Any

import msgspec

from dashboards.asking.source import Source
from dashboards.filters import Filters, Named
from pipeline.config.suggest import closest
from pipeline.errors import BadUsage, NotFound

_MOST = 500
_SAME = 2
_FEW = 5

Job = dict[str, Any]


class Found(msgspec.Struct, frozen=True):
    """The job, the log time at which it was found, and the uids of other jobs that had its name, newest first."""

    named: Named
    now_ms: int | None
    others: tuple[str, ...] = ()


def one(source: Source, text: str, filters: Filters, kind: str | None = None, uid: str | None = None) -> Found:
    """The one job of this NAME, KIND/NAME or NAMESPACE/NAME. Raises NotFound, or BadUsage when there are several."""
    name = text.rpartition("/")[2]
    answer = source.jobs(msgspec.structs.replace(filters, name=(name,)), "-created", _MOST, None)
    jobs = [item["job"] for item in answer["items"] if _is_meant(item["job"], text, kind, uid)]
    known = list(dict.fromkeys(_named(job) for job in jobs))
    if len(known) == 1:
        uids = dict.fromkeys(job["uid"] for job in jobs)
        return Found(known[0]._replace(uid=uid or ""), answer["now_ms"], tuple(uids)[1:])
    if known:
        raise BadUsage(
            f"{len(known)} jobs are called {name}:" + "".join(f"\n  {_shown(each)}" for each in known),
            fix="Say which one with -n, --kind or --cluster.",
        )
    lives = [job["uid"] for item in answer["items"] if _is_meant(job := item["job"], text, kind, None)]
    within = _within(filters, text, kind, uid)
    if lives:
        raise NotFound(f"there is no job {name}{within}", fix=f"Known uids of that name: {', '.join(lives[:_FEW])}.")
    raise NotFound(f"there is no job {name}{within}", fix=_advice(source, name, filters, bool(within)))


def is_called(job: Job, text: str) -> bool:
    """Whether the job is NAME, KIND/NAME (the kind in any case) or NAMESPACE/NAME."""
    before, slash, name = text.rpartition("/")
    return job["name"] == name and (not slash or before.lower() == job["kind"].lower() or before == job["namespace"])


def _is_meant(job: Job, text: str, kind: str | None, uid: str | None) -> bool:
    return (
        is_called(job, text)
        and (kind is None or kind.lower() == job["kind"].lower())
        and (uid is None or uid == job["uid"])
    )


def _advice(source: Source, name: str, filters: Filters, narrowed: bool) -> str:
    """Where the job is instead, or what it may be called."""
    if narrowed:
        elsewhere = source.jobs(Filters(name=(name,)), "-created", 1, None)["items"]
        if elsewhere:
            return f"There is one elsewhere: {_shown(_named(elsewhere[0]['job']))}."
    near: set[str] = set()
    for part in dict.fromkeys((name[:_SAME], name[-_SAME:])):
        items = source.jobs(msgspec.structs.replace(filters, name=(), text=part), "-created", _MOST, None)["items"]
        near |= {item["job"]["name"] for item in items} - {name}
    match = closest(name, near)
    return f"Did you mean {match}?" if match else "`kube-collector jobs -A` lists the jobs that are known."


def _within(filters: Filters, text: str, kind: str | None, uid: str | None) -> str:
    before = text.rpartition("/")[0]
    parts = [f"kind or namespace {before}"] if before else []
    parts += [f"kind {kind}"] if kind else []
    parts += [f"namespace {each}" for each in filters.namespace] + [f"cluster {each}" for each in filters.cluster]
    return (f" in {', '.join(parts)}" if parts else "") + (f" with uid {uid}" if uid else "")


def _named(job: dict[str, Any]) -> Named:
    return Named(job["cluster"], job["namespace"], job["kind"], job["name"])


def _shown(named: Named) -> str:
    return f"{named.kind}/{named.name} in namespace {named.namespace} of cluster {named.cluster}"
