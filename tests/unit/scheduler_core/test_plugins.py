"""Plug-ins that are installed beside ours, and the example of one."""

import sys
import tomllib
from pathlib import Path

import pytest

from pipeline import extensions
from pipeline.errors import UserError
from scheduler_core import decisions, plugins, scheduling, tiers
from scheduler_core.model import facts as f

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
