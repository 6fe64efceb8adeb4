"""Which job is meant: by its address, or by a name as a person types it.

None is guessed: of several jobs of one name all are named, of none the nearest. A name that was given to several jobs one
after the other means the newest of them; who wants another says its uid.
"""

from __future__ import annotations

from collections.abc import Iterable

from dashboards.figures import unknown
from dashboards.figures.asked import Asked
from dashboards.filters import Filters, Named, Wanted, is_called, literal
from dashboards.waits import Row
from pipeline.config.suggest import closest
from pipeline.errors import BadUsage, NotFound

MOST_EPISODES = 500
_MOST_NAMES = 500
_SAME = 2
"""Names are likened to those that begin or end with the same letters."""
_FEW = 5


def addressed(asked: Asked, named: Named) -> list[Row]:
    """The waits of the jobs at an address, newest job and latest wait first; at least one. Raises NotFound."""
    rows = asked.store.rows("job", **named._asdict(), limit=MOST_EPISODES)
    if rows:
        return rows
    near = _near(asked, named.name, Filters(cluster=(named.cluster,), namespace=(named.namespace,)), named.kind)
    raise NotFound(
        f"there is no {named.kind} {named.name} in namespace {named.namespace} of cluster {named.cluster}",
        fix=f"Did you mean {near}?" if near else "`kube-collector jobs` lists the jobs that are known.",
    )


def wanted(asked: Asked, job: Wanted) -> list[Row]:
    """As `addressed`, of the one job that is called so. Raises NotFound, or BadUsage when there are several."""
    rows = _called(asked, job)
    known = dict.fromkeys(_named(row) for row in rows)
    if len(known) == 1:
        return rows
    if known:
        raise BadUsage(
            f"{len(known)} jobs are called {job.name}:" + "".join(f"\n  {_shown(each)}" for each in known),
            fix="Say which one with -n, --kind or --cluster.",
        )
    raise NotFound(f"there is no job {job.name}{_within(job)}", fix=_advice(asked, job))


def uids(rows: Iterable[Row]) -> list[str]:
    """Of the jobs that rows are about, in their order."""
    return list(dict.fromkeys(row["job_uid"] for row in rows))


def _called(asked: Asked, job: Wanted) -> list[Row]:
    filters = Filters(cluster=job.cluster, namespace=job.namespace)
    rows = asked.store.rows(
        "named", **filters.parameters("cluster", "namespace"), name=job.name, uid=job.uid, limit=asked.store.max_rows
    )
    return [row for row in rows if _is_meant(row, job)]


def _is_meant(row: Row, job: Wanted) -> bool:
    """Whether it is called so, and of the kind that stands beside the name, if one does."""
    kind = row["job_kind"] or ""
    called = is_called(job.text, kind, row["namespace"] or "", row["job_name"] or "")
    return called and (not job.kind or job.kind.lower() == kind.lower())


def _advice(asked: Asked, job: Wanted) -> str:
    """Which uids the name has, where the job is instead, or what it may be called."""
    lives = uids(_called(asked, job._replace(uid=""))) if job.uid else []
    if lives:
        return f"Known uids of that name: {', '.join(lives[:_FEW])}."
    elsewhere = _called(asked, Wanted(job.name)) if _within(job) else []
    if elsewhere:
        return f"There is one elsewhere: {_shown(_named(elsewhere[0]))}."
    filters = Filters(cluster=job.cluster, namespace=job.namespace, kind=(job.kind,) if job.kind else ())
    wrong = [each for each in unknown.values(asked, filters, found=False) if each.near]
    if wrong:
        return f"Did you mean {' and '.join(f'{each.filter} {each.near}' for each in wrong)}?"
    near = _near(asked, job.name, Filters(cluster=job.cluster, namespace=job.namespace))
    return f"Did you mean {near}?" if near else "`kube-collector jobs -A` lists the jobs that are known."


def _near(asked: Asked, name: str, filters: Filters, kind: str | None = None) -> str | None:
    """The known job that this one is most likely a slip of; with its kind, if that is not the one that was named."""
    rows = asked.store.rows(
        "names",
        **filters.parameters("cluster", "namespace"),
        begin=f"{literal(name[:_SAME].lower())}%",
        end=f"%{literal(name[-_SAME:].lower())}",
        limit=_MOST_NAMES,
    )
    itself = (name,) if kind is None else (name, kind)
    rows = [row for row in rows if (row["job_name"], row["job_kind"])[: len(itself)] != itself]
    near = closest(name, (row["job_name"] for row in rows))
    kinds = [row["job_kind"] for row in rows if row["job_name"] == near]
    return near if near is None or kind is None or kind in kinds else f"{kinds[0]}/{near}"


def _within(job: Wanted) -> str:
    before = job.text.rpartition("/")[0]
    parts = [f"kind or namespace {before}"] if before else []
    parts += [f"kind {job.kind}"] if job.kind else []
    parts += [f"namespace {each}" for each in job.namespace] + [f"cluster {each}" for each in job.cluster]
    return (f" in {', '.join(parts)}" if parts else "") + (f" with uid {job.uid}" if job.uid else "")


def _named(row: Row) -> Named:
    return Named(row["cluster"], row["namespace"] or "", row["job_kind"] or "", row["job_name"] or "")


def _shown(named: Named) -> str:
    return f"{named.kind}/{named.name} in namespace {named.namespace} of cluster {named.cluster}"
