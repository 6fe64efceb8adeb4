"""priority, drf and conformance: who goes first and who may be evicted for whom."""

from scheduler_core.model.resources import LEAST
from tests.support import scheduler_makers as make


def names(tasks):
    return sorted(task.name for task in tasks)


def running_and_one(policy, *, waiting_class="", victim_class="", cpu=1, more_held=0, **pod_fields):
    """Two running pods of one job (of four cores each), and a waiting one of another."""
    groups = [make.group("held", min_member=0, phase="Running", priority_class=victim_class),
              make.group("want", priority_class=waiting_class)]  # fmt: skip
    pods = [make.pod(f"v{at}", "held", cpu=4, on="n", **pod_fields) for at in range(2)]
    pods += [make.pod(f"w{at}", "want", cpu=4, on="n") for at in range(more_held)]
    pods.append(make.pod("p", "want", cpu=cpu))
    session = make.opened([make.node("n", cpu=40)], groups, pods, policy, classes=[("hi", 10), ("lo", 1)])
    candidates = session.orders.lowest_first(
        task for task in session.jobs["ns/held"].tasks.values()
    )  # fmt: skip
    return session, make.task(session, "p"), candidates


def test_only_a_lower_job_is_a_victim_and_an_equal_one_never():
    policy = make.policy(("priority",))
    for theirs, mine, victims in (("lo", "hi", ["v0", "v1"]), ("hi", "hi", []), ("hi", "lo", [])):
        session, task, candidates = running_and_one(policy, waiting_class=mine, victim_class=theirs)
        assert names(session.plugin("priority").preemptable(task, candidates)) == victims


def test_a_satisfied_gang_with_more_tasks_waiting_still_starves_by_priority():
    session, task, _ = running_and_one(make.policy(("priority",)))
    assert session.starving(task.job)
    assert not session.starving(session.jobs["ns/held"])


def test_tasks_go_by_priority_then_by_their_number():
    pods = [make.pod("j-w-10", "j"), make.pod("j-w-9", "j"), make.pod("j-w-1", "j", priority=5)]
    session = make.opened([], [make.group("j")], pods, make.policy(("priority",)))
    ordered = session.orders.sorted_tasks(session.jobs["ns/j"].tasks.values())
    assert [task.name for task in ordered] == ["j-w-1", "j-w-9", "j-w-10"]


def test_a_dominant_share_counts_the_resource_held_most_of():
    session, _, _ = running_and_one(make.policy(("drf",)))
    shares = session.plugin("drf").shares
    assert abs(shares["ns/held"] - 8 / 40) < LEAST / 100
    assert shares["ns/want"] == 0
    assert min(session.jobs.values(), key=session.orders.job).name == "want"


def test_a_job_takes_by_share_only_from_one_that_stays_at_least_as_well_off():
    policy = make.policy(("drf",))
    for cpu, victims in ((1, ["v0"]), (4, ["v0"]), (5, [])):
        session, task, candidates = running_and_one(policy, cpu=cpu)
        found = session.plugin("drf").preemptable(task, sorted(candidates, key=lambda task: task.name))
        assert names(found) == victims


def test_pods_of_the_system_are_never_victims():
    for fields in ({"priority_class": "system-node-critical"}, {"priority_class": "system-cluster-critical"}):
        session, task, candidates = running_and_one(make.policy(("conformance",)), **fields)
        assert list(session.plugin("conformance").preemptable(task, candidates)) == []
        assert list(session.plugin("conformance").reclaimable(task, candidates)) == []
    session, task, candidates = running_and_one(make.policy(("conformance",)))
    assert names(session.plugin("conformance").reclaimable(task, candidates)) == ["v0", "v1"]
