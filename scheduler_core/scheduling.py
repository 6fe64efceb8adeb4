"""One session from its facts to its end: opened, every action run in order, phases settled, closed."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core import actions, plugins
from scheduler_core.model import snapshot
from scheduler_core.model.facts import ClusterFacts
from scheduler_core.model.policy import Policy
from scheduler_core.session import phases
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.session import Session


def open_session(
    facts: ClusterFacts, policy: Policy, now_ns: int, known: Mapping[str, type[Plugin]] | None = None
) -> Session:
    """A session on these facts with the policy's plugins; `known` are all plugins there are, by name."""
    return Session(snapshot.build(facts), policy, plugins.known() if known is None else known, now_ns)


def run(facts: ClusterFacts, policy: Policy, now_ns: int, known: Mapping[str, type[Plugin]] | None = None) -> Session:
    """A whole session: what it decided is in it."""
    session = open_session(facts, policy, now_ns, known)
    for name in policy.actions:
        actions.ALL[name](session)
    finish(session)
    return session


def finish(session: Session) -> None:
    """Settles the phases of all groups and closes the plugins."""
    for job in session.jobs.values():
        job.phase = phases.phase(job, unschedulable=False)
    session.close()
