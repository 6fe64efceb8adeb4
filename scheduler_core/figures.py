"""What queues have and want, and what nodes have free, read off a session that has just opened. Pure.

Nothing here is decided: the session's plug-ins have taken their accounts and no action has run, so a queue uses what its
pods hold, and a node has free what no pod holds, whichever scheduler placed it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pipeline.records import devices
from pipeline.records.figures import NodeFigures, QueueFigures
from scheduler_core.model.jobs import Queue
from scheduler_core.model.resources import CPU, MEMORY, PODS, UNLIMITED, Resource
from scheduler_core.session import accounts
from scheduler_core.session.accounts import Account
from scheduler_core.session.session import Session

ROOT: Final = "root"
"""Volcano's queue above all others, which is nobody's."""


def of_nodes(session: Session, pool_labels: Sequence[str]) -> Iterator[NodeFigures]:
    """Every node, in order of the table; its pool is the value of the first of these labels that it has."""
    table, axis = session.nodes, session.axis
    cells = table.settle()
    gpus = [axis.index[name] for name in devices.devices(axis.names)]
    has = cells.alloc[gpus].sum(axis=0) // 1000
    free = cells.idle[gpus].clip(min=0).sum(axis=0) // 1000
    opened = table.usable & ~table.cordoned
    columns = (
        opened,
        has,
        free,
        cells.alloc[CPU],
        cells.idle[CPU].clip(min=0),
        cells.alloc[MEMORY],
        cells.idle[MEMORY].clip(min=0),
        cells.pods,
    )
    for name, traits, *values in zip(
        table.names, table.by_label.traits, *(column.tolist() for column in columns), strict=True
    ):
        yield NodeFigures(name, _pool(traits.labels, pool_labels), *values)


def _pool(labels: Mapping[str, str], pool_labels: Sequence[str]) -> str:
    return next((labels[key] for key in pool_labels if labels.get(key)), "")


def of_queues(session: Session) -> Iterator[QueueFigures]:
    """Every queue with each resource that it names, uses or wants, in order of their names."""
    known = _accounts(session)
    waiting = _waiting(session)
    for name in sorted(session.queues):
        queue = session.queues[name]
        account = known.get(name) or _plain(session, queue)
        for place, resource in enumerate(session.axis.names):
            if place != PODS and _matters(account, queue, place):
                yield QueueFigures(
                    name, resource, tenant_of(session.queues, name), _quota(session, account, place),
                    _named(session, queue.capability, place),
                    session.axis.whole(place, account.allocated.values[place]),
                    session.axis.whole(place, account.request.values[place]), waiting.get(name, 0),
                )  # fmt: skip


def tenant_of(queues: Mapping[str, Queue], name: str) -> str:
    """The topmost parent below the root; the queue itself where it has none, or where its parents go in a circle."""
    seen = {name}
    above = name
    while True:
        parent = queues[above].parent if above in queues else ""
        if not parent or parent == ROOT or parent in seen:
            return above if not parent or parent == ROOT else name
        seen.add(parent)
        above = parent


def _accounts(session: Session) -> Mapping[str, Account]:
    """The accounts of the plug-in that keeps quotas."""
    for tier in session.tiers:
        for plugin in tier:
            found = getattr(plugin, "accounts", None)
            if found:
                return dict(found)
    return {}


def _plain(session: Session, queue: Queue) -> Account:
    """The account of a queue that no plug-in keeps one of."""
    account = Account(queue, session.axis)
    charge = accounts.ledger_of(session.snapshot).of_queue.get(queue.name)
    if charge is not None:
        account.charge(charge)
    return account


def _matters(account: Account, queue: Queue, place: int) -> bool:
    named = (queue.capability, queue.deserved, queue.guarantee)
    return bool(
        account.allocated.values[place]
        or account.request.values[place]
        or any(each is not None and each.values[place] for each in named)
    )


def _quota(session: Session, account: Account, place: int) -> float | None:
    """What it deserves; None where that is nothing, or everything."""
    amount = account.deserved.values[place]
    return session.axis.whole(place, amount) if 0 < amount < UNLIMITED else None


def _named(session: Session, amount: Resource | None, place: int) -> float | None:
    """An amount that is written down, cpu and memory too only where they are above zero."""
    if amount is None or not amount.has(place) or not amount.values[place]:
        return None
    return session.axis.whole(place, amount.values[place])


def _waiting(session: Session) -> dict[str, int]:
    """Jobs with a pod that waits, by queue."""
    found: dict[str, int] = {}
    for job in session.jobs.values():
        if any(True for _ in job.pending()):
            found[job.queue.name] = found.get(job.queue.name, 0) + 1
    return found
