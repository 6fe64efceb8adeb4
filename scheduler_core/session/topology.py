"""What a job asks of the network, read off its group and the tree of domains."""

from __future__ import annotations

from scheduler_core.model import status
from scheduler_core.model.domains import DomainTree
from scheduler_core.model.jobs import Job
from scheduler_core.model.tasks import NOWHERE


def hard_tier(domains: DomainTree, job: Job) -> int | None:
    """The highest tier that a job with a hard topology may span; None for any other job.

    A tier that is given by name and has no such tier is none: the job is then treated as if it had no hard topology.
    """
    if job.topology is None or job.topology.mode != "hard":
        return None
    if job.topology.highest_tier is not None:
        return job.topology.highest_tier
    return domains.tier_of_name.get(job.topology.highest_tier_name)


def is_soft(job: Job) -> bool:
    return job.topology is not None and job.topology.mode == "soft"


def settle_held(domains: DomainTree, job: Job) -> None:
    """What a job holds in the network when a session opens.

    A domain that is gone, or of a job that holds nothing, is forgotten; a job that holds nodes and names no domain holds
    the lowest one with all of them.
    """
    if job.topology is None:
        return
    if job.settled_domain is None or job.opening_allocated is not None:
        job.settled_domain = _held(domains, job)
    job.held_domain = job.settled_domain


def _held(domains: DomainTree, job: Job) -> str:
    rows = [task.row for state in status.HOLDING for task in job.by_status[state].values() if task.row != NOWHERE]
    if not rows or (job.held_domain and job.held_domain in domains.by_name):
        return job.held_domain if rows else ""
    around = set(domains.around(rows[0])).intersection(*[domains.around(row) for row in set(rows[1:])])
    return min(around, key=lambda name: (domains.by_name[name].tier, name), default="")
