"""sla: promises, their order and their vote."""

import pytest

from scheduler_core import actions
from scheduler_core.session.combine import ABSTAIN, PERMIT
from tests.support import scheduler_makers as make

SECOND = make.SECOND


def sla_of(annotations=None, *, now_ns=100 * SECOND, created_ns=SECOND, argument=None, **more):
    given = {} if argument is None else {"sla-waiting-time": argument}
    policy = make.policy(("sla",), sla=given | more.pop("arguments", {}))
    group = make.group("j", annotations=annotations or {}, created_ns=created_ns, **more)
    session = make.opened([make.node("n")], [group], [make.pod("p", "j")], policy, now_ns=now_ns)
    return session.plugin("sla"), session.jobs["ns/j"]


def test_the_vote_turns_at_the_very_nanosecond_and_never_rejects():
    for late_ns, vote in ((-1, ABSTAIN), (0, PERMIT), (1, PERMIT)):
        plugin, job = sla_of({"sla-waiting-time": "10s"}, now_ns=11 * SECOND + late_ns)
        assert plugin.job_enqueueable(job) is vote
        assert plugin.job_pipelined(job) is vote


def test_a_group_from_the_future_has_not_waited():
    plugin, job = sla_of({"sla-waiting-time": "1ns"}, created_ns=200 * SECOND)
    assert plugin.job_enqueueable(job) is ABSTAIN


@pytest.mark.parametrize(
    ("annotations", "argument", "waiting_ns"),
    [
        ({"volcano.sh/sla-waiting-time": "1m", "sla-waiting-time": "5m"}, "9m", 60 * SECOND),
        ({"volcano.sh/sla-waiting-time": "soon", "sla-waiting-time": "5m"}, "9m", 300 * SECOND),
        ({"volcano.sh/sla-waiting-time": "-1m", "sla-waiting-time": "0"}, "9m", 540 * SECOND),
        ({"scheduling.volcano.sh/sla-waiting-time": "2m"}, None, 120 * SECOND),
        ({"sla-waiting-time": ""}, "1h30m", 5400 * SECOND),
        ({}, 3600, None),
        ({}, "3600", None),
        ({}, "-5m", None),
        ({}, True, None),
        ({}, None, None),
    ],
)
def test_what_cannot_be_read_or_is_not_above_zero_counts_as_absent(annotations, argument, waiting_ns):
    plugin, job = sla_of(annotations, argument=argument)
    assert plugin.waiting_ns(job) == waiting_ns
    assert plugin.deadline_ns(job) == (None if waiting_ns is None else SECOND + waiting_ns)


def test_the_annotations_of_the_job_count_only_if_the_policy_says_so():
    owner = {"sla-waiting-time": "1s"}
    assert sla_of(owner_annotations=owner)[0].waiting_ns(sla_of(owner_annotations=owner)[1]) is None
    plugin, job = sla_of({"sla-waiting-time": "9s"}, owner_annotations=owner, arguments={"annotations": "job"})
    assert plugin.waiting_ns(job) == SECOND


def test_jobs_go_by_deadline_and_those_without_a_promise_last():
    groups = [
        make.group("none", created_ns=SECOND),
        make.group("late", created_ns=SECOND, annotations={"sla-waiting-time": "1h"}),
        make.group("soon", created_ns=9 * SECOND, annotations={"sla-waiting-time": "1m"}),
    ]
    session = make.opened([], groups, [make.pod(each.name, each.name) for each in groups], make.policy(("sla",)))
    assert [job.name for job in sorted(session.jobs.values(), key=session.orders.job)] == ["soon", "late", "none"]


def test_a_promise_above_the_quota_lets_in_and_beside_it_does_not():
    late = make.group("j", phase="Pending", min_resources={"cpu": 99}, annotations={"sla-waiting-time": "1s"})
    for tiers, phase in (((("sla",), ("overcommit",)), "Inqueue"), ((("sla", "overcommit"),), "Pending")):
        policy = make.policy(*tiers, actions=("enqueue",))
        session = make.opened([make.node("n")], [late], [make.pod("p", "j")], policy)

        actions.ALL["enqueue"](session)
        assert session.jobs["ns/j"].phase == phase
