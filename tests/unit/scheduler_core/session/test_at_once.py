"""Jobs that are refused at once are refused as they would be if each were tried."""

import random

import msgspec
import pytest

from scheduler_core import decisions, plugins, scheduling
from scheduler_core.session.at_once import AtOnce
from scheduler_core.session.plugin import Plugin
from tests.support import scheduler_worlds as worlds
from tests.support.native import interpreted_only


def crowded(seed, policy):
    """A cluster with more jobs than room; every second of them asks what one before it asks."""
    r = random.Random(seed)
    facts = worlds.world(r, nodes=4, jobs=20)
    if policy == "tree":
        facts = worlds.in_tree(r, facts)
    groups, pods = [*facts.groups], [*facts.pods]
    for group in facts.groups:
        own = [pod for pod in facts.pods if pod.group == f"{group.namespace}/{group.name}" and not pod.node]
        if r.random() < 0.5:
            groups.append(msgspec.structs.replace(group, name=f"{group.name}-again"))
            pods += [
                msgspec.structs.replace(pod, uid=f"{pod.uid}-again", name=f"{pod.name}-again", group=f"{pod.group}-again")
                for pod in own
            ]  # fmt: skip
    return msgspec.structs.replace(facts, groups=tuple(groups), pods=tuple(pods))


@interpreted_only
@pytest.mark.parametrize("policy", worlds.POLICIES)
def test_a_job_that_is_refused_at_once_is_refused_as_if_it_were_tried(policy, monkeypatch):
    taken = []
    turn = AtOnce.turn

    def noted(self, job, waiting):
        found = turn(self, job, waiting)
        taken.append(found is not None)
        return found

    for seed in range(150):
        facts = crowded(seed, policy)
        sessions = []
        for instead in (noted, lambda *_: None):
            monkeypatch.setattr(AtOnce, "turn", instead)
            sessions.append(scheduling.run(facts, worlds.POLICIES[policy], 10**10, plugins.ALL))
        one, other = sessions
        assert decisions.of_session(one, "simulate") == decisions.of_session(other, "simulate"), seed
        assert [*one.tried] == [*other.tried]
        for uid, job in one.jobs.items():
            assert (job.why, job.failed_roles) == (other.jobs[uid].why, other.jobs[uid].failed_roles)
            assert {of: each.placed for of, each in job.refusals.items()} == {
                of: each.placed for of, each in other.jobs[uid].refusals.items()
            }
    assert taken.count(True) > 50


def test_a_plugin_that_is_not_steady_is_asked_of_every_job():
    """It counts how often it is asked."""

    class Counting(Plugin):
        name = "counting"

        def open(self, session):
            self.asked = 0

        def allocatable(self, queue, task):
            self.asked += 1

        def allocatable_together(self, queue, task, most):
            return most

    facts = crowded(3, "default")
    policy = worlds.policy(("gang", "counting"), ("predicates",), actions=("allocate",))
    session = scheduling.run(facts, policy, 10**10, {**plugins.ALL, "counting": Counting})
    assert not session.steady
    refused = [job for job in session.jobs.values() if job.refusals]
    assert session.plugin("counting").asked >= len(refused) > 3
