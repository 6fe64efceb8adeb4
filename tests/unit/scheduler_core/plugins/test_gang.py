"""gang: minimums, of jobs and of roles."""

from scheduler_core.model import status
from scheduler_core.plugins import gang
from tests.support import scheduler_makers as make

ROLE = "volcano.sh/task-spec"


def session_of(groups, pods, *, arguments=None, nodes=None):
    policy = make.policy(("gang", "predicates"), actions=("allocate",), gang=arguments or {})
    return make.opened(nodes or [make.node("n")], groups, pods, policy)


def test_waiting_tasks_without_request_help_to_be_ready_but_not_to_be_fed():
    pods = [make.pod("a", "j", on="n"), make.pod("b", "j", cpu=0)]
    job = session_of([make.group("j", min_member=2)], pods).jobs["ns/j"]
    assert gang.is_ready(job)
    assert gang.is_pipelined(job)
    assert gang.is_starving(job)


def test_each_role_must_have_its_minimum():
    pods = [make.pod(f"w{at}", "j", labels={ROLE: "worker"}) for at in range(3)]
    pods.append(make.pod("ps", "j", labels={ROLE: "ps"}))
    for ps, valid in ((1, True), (2, False)):
        group = make.group("j", min_member=3, min_task_member={"worker": 1, "ps": ps})
        session = session_of([group], pods)
        why = session.invalid(session.jobs["ns/j"])
        assert (why is None) == valid
        assert valid or why.message.startswith("NotEnoughPodsOfTask: ")


def test_minimums_of_roles_above_the_minimum_of_the_job_do_not_count():
    group = make.group("j", min_member=1, min_task_member={"worker": 5})
    session = session_of([group], [make.pod("p", "j", labels={ROLE: "worker"})])
    assert session.invalid(session.jobs["ns/j"]) is None


def test_too_few_tasks_are_said_with_both_numbers():
    session = session_of([make.group("j", min_member=3)], [make.pod("p", "j"), make.pod("q", "j", phase="Failed")])
    why = session.invalid(session.jobs["ns/j"])
    assert why.message == "NotEnoughTasks: Not enough valid tasks for gang-scheduling, valid: 1, min: 3"


def test_unready_gangs_go_first_unless_the_policy_turns_it_round():
    groups = [make.group("ready", min_member=0, created_ns=1), make.group("unready", created_ns=2)]
    pods = [make.pod("a", "ready"), make.pod("b", "unready")]
    for arguments, first in (({}, "unready"), ({"order": "ready-first"}, "ready")):
        session = session_of(groups, pods, arguments=arguments)
        assert min(session.jobs.values(), key=session.orders.job).name == first


def test_victims_are_what_a_job_has_above_its_minimum():
    pods = [make.pod(f"p{at}", "j", on="n") for at in range(4)]
    session = session_of([make.group("j", min_member=2)], pods)
    tasks = sorted(session.jobs["ns/j"].by_status[status.RUNNING].values(), key=lambda task: task.name)
    assert [task.name for task in gang.surplus(tasks)] == ["p0", "p1"]


def test_a_gang_is_bound_whole_or_not_at_all():
    pods = [make.pod(f"p{at}", "j", cpu=2) for at in range(3)]
    for least, number in ((3, 0), (2, 2)):
        policy = make.policy(("gang", "predicates"), actions=("allocate",))
        session = make.ran([make.node("n")], [make.group("j", min_member=least)], pods, policy)
        assert len(session.binds) == number
        assert sum(session.nodes.settle().idle[0]) == 4000 - 2000 * number
