"""One session from its facts to its end: opened, every action run in order, phases settled, closed."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core import actions, plugins
from scheduler_core.model import collector, snapshot
from scheduler_core.model.facts import ClusterFacts
from scheduler_core.model.policy import Policy
from scheduler_core.model.snapshot import Snapshot
from scheduler_core.session import phases
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.session import Session


def open_session(
    facts: ClusterFacts, policy: Policy, now_ns: int, known: Mapping[str, type[Plugin]] | None = None
) -> Session:
    """A session on these facts with the policy's plugins; `known` are all plugins there are, by name."""
    return on_snapshot(snapshot.build(facts), policy, now_ns, known)


def on_snapshot(
    taken: Snapshot, policy: Policy, now_ns: int, known: Mapping[str, type[Plugin]] | None = None
) -> Session:
    """A session on a snapshot, be it made for this session or one that stands (`model.standing`)."""
    return Session(taken, policy, plugins.known() if known is None else known, now_ns)


def run(facts: ClusterFacts, policy: Policy, now_ns: int, known: Mapping[str, type[Plugin]] | None = None) -> Session:
    """A whole session: what it decided is in it."""
    return act(open_session(facts, policy, now_ns, known))


def act(session: Session) -> Session:
    """All that an open session does.

    Python's collector of cycles waits until it is over: what a session makes lives as long as the session.
    """
    with collector.waits():
        for name in session.policy.actions:
            actions.ALL[name](session)
        finish(session)
    return session


def finish(session: Session) -> None:
    """Settles the phases of all groups and closes the plugins."""
    for job in session.jobs.values():
        job.phase = phases.phase(job, unschedulable=False)
    session.close()
    session.snapshot.used = [job for job in session.jobs.values() if job.was_used()]
