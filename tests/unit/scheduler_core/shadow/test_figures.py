"""Figures of queues and nodes: read off real sessions on small clusters, and told when they are news."""

from __future__ import annotations

import msgspec

from pipeline.records import raw_rows
from pipeline.records.figures import NodeFigures, QueueFigures
from pipeline.records.times import HOUR_MS, MINUTE_MS
from scheduler_core import figures, plugins, tiers
from scheduler_core.cache.mirror import Mirror
from scheduler_core.shadow.figures import MOST, Book
from scheduler_core.shadow.volcano import Volcano
from tests.support.object_records import deleted, group, node, pod, queue, record

HOUR = 1_767_225_600_000
"""A full hour: 2026-01-01."""
QUOTAS = """
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
- plugins:
  - name: predicates
  - name: capacity
"""


def fleet(name, gpus=8, *, pool="a", ready="True", **spec):
    """A node with GPUs."""
    made = node(f"n-{name}", name, ready=ready, **spec)
    body = msgspec.json.decode(made.data.object)
    body["metadata"]["labels"]["pool"] = pool
    body["status"]["allocatable"] = {"cpu": "8", "memory": "8Gi", "pods": "10", "nvidia.com/gpu": str(gpus)}
    made.data.object = msgspec.Raw(msgspec.json.encode(body))
    return made


def asking(uid, gpus, **more):
    return pod(
        uid, containers=[{"name": "main", "resources": {"requests": {"cpu": "1", "nvidia.com/gpu": str(gpus)}}}], **more
    )


def started(*records, policy=None):
    mirror = Mirror("c")
    for each in records:
        mirror.apply(each)
    known = plugins.ALL
    chosen = tiers.default(known) if policy is None else tiers.parse(policy, "p", known).policy
    return mirror, Book(Volcano(chosen, known), ["zone-pool", "pool"])


def nodes(found):
    return [each for part in found for each in part.data.nodes]


def queues(found):
    return [each for part in found for each in part.data.queues]


def test_a_node_has_free_what_no_pod_holds_whoever_placed_it():
    mirror, book = started(
        fleet("n1"), fleet("n2", pool="b", unschedulable=True), node("n-3", "n3"),
        asking("p-1", 3, node="n1"), asking("p-2", 2, node="n1", scheduler="default-scheduler", notes={"a": "b"}), asking("p-3", 1),
    )  # fmt: skip
    gib = 1 << 30
    assert nodes(book.records(mirror, HOUR)) == [
        NodeFigures("n1", "a", True, 8, 3, 8000, 6000, 8 * gib, 8 * gib, 2),
        NodeFigures("n2", "b", False, 8, 8, 8000, 8000, 8 * gib, 8 * gib, 0),
        NodeFigures("n3", "", True, 0, 0, 8000, 8000, 8 * gib, 8 * gib, 0),
    ]


def test_a_node_that_holds_more_than_it_has_has_nothing_free():
    mirror, book = started(fleet("n1"), asking("p-1", 6, node="n1"), asking("p-2", 6, node="n1"), *(
        pod(f"p-{at}", containers=[{"name": "main", "resources": {"requests": {"cpu": "7", "memory": "7Gi"}}}], node="n1")
        for at in (3, 4)
    ))  # fmt: skip
    (found,) = nodes(book.records(mirror, HOUR))
    assert (found.gpus_free, found.cpus_free_milli, found.memory_free_bytes) == (0, 0, 0)


def test_a_queue_uses_what_its_pods_hold_and_asks_for_what_waits_too():
    gold = queue("gold", deserved={"nvidia.com/gpu": "4"}, capability={"nvidia.com/gpu": "6"})
    mirror, book = started(
        fleet("n1"), gold, group(queue="gold", phase="Running"), asking("p-1", 3, node="n1", phase="Running"), asking("p-2", 2), policy=QUOTAS
    )  # fmt: skip
    found = queues(book.records(mirror, HOUR))
    assert QueueFigures("gold", "nvidia.com/gpu", "gold", 4.0, 6.0, 3.0, 5.0, 1) in found
    assert QueueFigures("gold", "cpu", "gold", None, None, 1.0, 2.0, 1) in [
        msgspec.structs.replace(each, quota=None) for each in found
    ]


def test_without_a_plugin_of_quotas_what_is_used_is_known_all_the_same():
    policy = QUOTAS.replace("  - name: capacity\n", "")
    mirror, book = started(fleet("n1"), queue(), group(phase="Running"), asking("p-1", 3, node="n1"), policy=policy)
    assert QueueFigures("default", "nvidia.com/gpu", "default", None, None, 3.0, 3.0, 0) in queues(
        book.records(mirror, HOUR)
    )


def test_the_tenant_of_a_queue_is_its_topmost_parent_below_the_root():
    parents = {"root": "", "team": "root", "team-a": "team", "deep": "team-a", "odd": "odder", "odder": "odd"}
    mirror, book = started(*(queue(name, **({"parent": parent} if parent else {})) for name, parent in parents.items()))
    session = book._volcano.opened(mirror, HOUR)
    found = {name: figures.tenant_of(session.queues, name) for name in parents}
    assert found == {"root": "root", "team": "team", "team-a": "team", "deep": "team", "odd": "odd", "odder": "odder"}


def test_only_what_has_changed_is_told_and_everything_at_each_full_hour():
    mirror, book = started(fleet("n1"), fleet("n2"), queue())
    assert book.due(HOUR + 5 * MINUTE_MS + 3) == HOUR + 5 * MINUTE_MS
    assert len(nodes(book.records(mirror, HOUR + 5 * MINUTE_MS))) == 2
    assert book.due(HOUR + 5 * MINUTE_MS + 59_000) is None
    mirror.apply(asking("p-1", 1, node="n2"))
    assert [(each.node, each.gpus_free) for each in nodes(book.records(mirror, HOUR + 6 * MINUTE_MS))] == [("n2", 7)]
    assert book.records(mirror, HOUR + 7 * MINUTE_MS) == []
    assert len(nodes(book.records(mirror, HOUR + HOUR_MS))) == 2


def test_an_hour_whose_first_minute_was_passed_over_has_everything_in_the_next():
    mirror, book = started(fleet("n1"), fleet("n2"))
    book.records(mirror, HOUR)
    book.pass_over(HOUR + HOUR_MS)
    assert book.due(HOUR + HOUR_MS + 59_000) is None
    assert book.due(HOUR + HOUR_MS + MINUTE_MS) == HOUR + HOUR_MS + MINUTE_MS
    assert len(nodes(book.records(mirror, HOUR + HOUR_MS + MINUTE_MS))) == 2


def test_what_is_gone_has_nothing_left_and_is_told_once():
    mirror, book = started(fleet("n1"), fleet("n2"), queue("gold", capability={"cpu": "4"}))
    book.records(mirror, HOUR)
    for each in (deleted("Node", "n-n2"), deleted("Queue", "queue-gold")):
        mirror.apply(each)
    found = book.records(mirror, HOUR + MINUTE_MS)
    assert nodes(found) == [NodeFigures("n2", "a")]
    assert queues(found) == [QueueFigures("gold", "cpu", "gold")]
    assert book.records(mirror, HOUR + 2 * MINUTE_MS) == []


def test_many_rows_come_in_several_records_with_identities_of_their_own():
    mirror, book = started(*(fleet(f"n{at:04d}") for at in range(MOST + 1)))
    found = book.records(mirror, HOUR)
    assert [len(each.data.nodes) for each in found] == [MOST, 1]
    assert [each.id for each in found] == [f"c/{HOUR}/figures/0", f"c/{HOUR}/figures/1"]
    assert {each.observedms for each in found} == {HOUR}


def test_what_an_earlier_run_has_told_is_not_told_again():
    mirror, book = started(fleet("n1"))
    book.heard_ms = HOUR
    assert book.records(mirror, HOUR) == []
    mirror.apply(asking("p-1", 1, node="n1"))
    assert [each.gpus_free for each in nodes(book.records(mirror, HOUR + MINUTE_MS))] == [7]


def test_figures_fill_their_tables():
    mirror, book = started(fleet("n1"), queue("gold", capability={"cpu": "4"}))
    rows = [row for each in book.records(mirror, HOUR) for row in raw_rows.all_of(each)]
    assert {row.table for row in rows} == {"queue_minute", "node_minute"}
    told = next(row.values for row in rows if row.table == "node_minute")
    assert (told["minute"], told["node"], told["gpus_free"], told["open"], told["cluster"]) == (
        HOUR,
        "n1",
        8,
        True,
        "c",
    )
    assert raw_rows.all_of(record("Node", "n-1", {"metadata": {"name": "n1"}}))[0].table == "object_change"
