"""Plug-ins that are installed beside ours, and the example of one."""

import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from pipeline import extensions
from pipeline.errors import UserError
from scheduler_core import decisions, plugins, scheduling, tiers
from scheduler_core.model import facts as f
from scheduler_core.model.checks import UNSCHEDULABLE, Check
from scheduler_core.session.plugin import Plugin
from tests.support import scheduler_makers as make

EXAMPLE = Path(__file__).parents[3] / "examples" / "scheduler-plugin"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Puts entry points on the path as an installed distribution does; (name, target) pairs."""

    def add(*entries, distribution="acme-1.0"):
        info = tmp_path / f"{distribution}.dist-info"
        info.mkdir()
        lines = [f"[{plugins.GROUP}]", *(f"{name} = {target}" for name, target in entries)]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        monkeypatch.syspath_prepend(tmp_path)
        forget()

    def forget():
        extensions.found.cache_clear()
        extensions._entry_point_files.cache_clear()

    yield add
    forget()


def test_the_list_has_each_plugin_under_its_own_name():
    assert all(plugin.name == name for name, plugin in plugins.ALL.items())
    assert sorted(plugins.ALL) == [
        "binpack", "capacity", "conformance", "drf", "gang", "network-topology-aware", "nodeorder", "overcommit",
        "predicates", "priority", "proportion", "sla",
    ]  # fmt: skip


def test_the_example_is_found_by_its_entry_point_and_decides(install, monkeypatch):
    declared = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]["entry-points"]
    install(*declared[plugins.GROUP].items())
    monkeypatch.syspath_prepend(EXAMPLE)
    monkeypatch.delitem(sys.modules, "owned_nodes", raising=False)
    known = plugins.known()
    policy, warnings = tiers.parse((EXAMPLE / "volcano-scheduler.conf").read_text(), "example", known)
    assert warnings == []

    room = {"cpu": 2, "memory": "8Gi", "pods": 10}
    nodes = (
        f.NodeFacts(name="n1", allocatable=room, labels={"example.com/team": "red"}),
        f.NodeFacts(name="n2", allocatable=room, labels={"example.com/team": "blue"}),
        f.NodeFacts(name="n3", allocatable=room),
    )
    names = ("red", "blue", "green")
    facts = f.ClusterFacts(
        nodes=nodes,
        queues=tuple(f.QueueFacts(name=name) for name in names),
        groups=tuple(f.GroupFacts(namespace="ns", name=name, queue=name, min_member=1) for name in names),
        pods=tuple(
            f.PodFacts(
                uid=f"{name}-{at}", namespace="ns", name=f"{name}-{at}", group=f"ns/{name}",
                containers=(f.ContainerFacts({"cpu": 1}),),
            )
            for name in names for at in range(4)
        ),
    )  # fmt: skip
    session = scheduling.run(facts, policy, 0, known)
    where = {name: {node for task, node in session.binds.values() if task.job.name == name} for name in names}
    assert where["green"] <= {"n3"}
    assert "n1" not in where["blue"] and "n2" not in where["red"]
    assert len(session.binds) == 6
    refused = next(each for each in decisions.of_session(session, "shadow") if each.task and each.job.name == "green")
    assert "it would fit on node n1 if the node was its queue's or nobody's" in refused.helps
    assert {name for each in refused.failure_sets for name in each.filters} == {"NodeResourcesFit/cpu", "OwnedNodes"}


def test_two_plugins_of_one_name_are_an_error_that_names_the_distribution(install):
    install(("gang", "json:JSONDecoder"))
    with pytest.raises(UserError, match="'gang' of acme has the name of another"):
        plugins.known()


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("no_such_module:Thing", "cannot be loaded: No module named 'no_such_module'"),
        ("json:NoSuchThing", "cannot be loaded: module 'json' has no attribute 'NoSuchThing'"),
        ("json:JSONDecoder", "json:JSONDecoder is no scheduler_core.session.plugin.Plugin"),
        ("json:dumps", "json:dumps is no scheduler_core"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_an_error_that_says_what_to_do(install, target, said):
    install(("broken", target))
    with pytest.raises(UserError, match=said) as raised:
        plugins.known()
    assert "acme" in raised.value.fix


def test_a_plugin_whose_module_fails_when_it_is_imported_is_told_with_what_it_said(install, tmp_path):
    (tmp_path / "acme_fails.py").write_text(
        "from scheduler_core.session.plugin import Plugin\nPlugin.of_an_older_core(\n"
    )
    install(("broken", "acme_fails:Thing"))
    with pytest.raises(UserError, match=r"'broken' cannot be loaded: SyntaxError: '[(]' was never closed"):
        plugins.known()


EVEN = Check("Even", UNSCHEDULABLE, "node(s) were even", "node_affinity", "were odd")


class Loose(Plugin):
    """Answers as numpy gives them, and lists for tuples."""

    name = "loose"
    checks = [EVEN]

    def job_order(self, job):
        return np.float64(-job.priority)

    def queue_order(self, queue):
        return np.int64(-queue.weight)

    def task_order(self, task):
        return np.int64(-task.priority)

    def victim_queue_order(self, one, other, preemptor):
        return np.int64(one.weight - other.weight)

    def job_ready(self, job):
        return np.bool_(job.ready >= job.min_member)

    def job_missing(self, job):
        return np.int64(max(job.min_member - job.ready, 0))

    def job_starving(self, job):
        return np.bool_(job.ready + job.waiting < job.min_member)

    def allocatable(self, queue, task):
        return None

    def allocatable_together(self, queue, task, most):
        return np.minimum(most, 2)

    def preemptable(self, preemptor, candidates):
        return tuple(candidates)

    def reclaimable(self, reclaimer, candidates):
        return iter(candidates)

    def looks_elsewhere(self, cls):
        return np.bool_(True)

    def concerns(self, task):
        return np.bool_(task.name.startswith("late"))

    def table_filters(self, task):
        return [(EVEN, np.array([True, False, False]))]

    def best_node(self, task, rows, scores):
        return rows[scores.argmax()]


@pytest.mark.parametrize("tiers", [(("loose",), ("predicates",)), (("gang", "loose"), ("predicates", "binpack"))])
def test_a_plugin_may_answer_with_the_numbers_and_truths_of_numpy(tiers):
    policy = make.policy(*tiers, actions=("enqueue", "allocate", "preempt", "reclaim", "backfill"))
    known = {**plugins.ALL, "loose": Loose}
    facts = f.ClusterFacts(
        nodes=tuple(make.node(f"n{at}", cpu=2) for at in range(3)),
        queues=(make.queue("poor"), make.queue("low", weight=2), make.queue("rich", weight=5)),
        groups=(
            make.group("a", "poor", min_member=0), make.group("b", "low", min_member=0),
            make.group("late", "rich", min_member=2, priority_class="high"),
            make.group("later", "rich", priority_class="high"),
        ),
        pods=(
            make.pod("a-0", "a", on="n1"), make.pod("b-0", "b", on="n1"), make.pod("later-0", "later"),
            make.pod("late-0", "late"), make.pod("late-1", "late"),
        ),
        priority_classes=(f.PriorityClassFacts("high", 9),),
    )  # fmt: skip
    session = scheduling.run(facts, policy, 0, known)
    assert make.bound(session) == {"late-0": "n2", "late-1": "n2"}
    assert make.evicted(session) == ["a-0"]
    assert decisions.of_session(session, "simulate")[-1].kind == "close"
