"""Fault classes of collectors that no other test of a room shows: `docs/reference/known-faults.md` lists them all."""

from __future__ import annotations

import copy
import gc
import json
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kubernetes import client as official

from collector.kinds import projection
from collector.kinds.catalog import KINDS
from collector.kinds.catalog import pod as pod_kind
from collector.kinds.mirror import Mirror, MirrorOptions
from collector.kinds.projection import Arrival, Limits
from pipeline.errors import Terminal
from pipeline.kubeapi.options import Options
from pipeline.records.objects import NodesWanted
from tests.support.mirrored import BEGIN_MS, EVENTS, JOBS, NODES, PODS, Cluster, event, node, owned, pod, thing
from tests.support.scripted_transport import Stream, bookmark, page
from tests.support.story import Story
from tests.unit.pipeline.kubeapi.test_kubeapi_reflector import Run

HOUR_S = 3600.0


# One long watch


@pytest.mark.parametrize("marks", [True, False], ids=["with bookmarks", "without"])
def test_a_quiet_kind_is_watched_a_few_dozen_times_an_hour_and_never_polled(marks: bool) -> None:
    options = Options()
    lived_s = options.watch_timeout_s if marks else 0.8 * options.silent_s
    count = int(HOUR_S / lived_s)
    steps = [lived_s / 2, bookmark("20"), lived_s / 2] if marks else [lived_s]
    run = Run(options=options, lists=[page("10")], streams=[Stream(*steps) for _ in range(count)])
    asked = [int(query["timeoutSeconds"]) for query in run.transport.sent("watch")[1:count]]
    assert set(asked) == {int(lived_s * 0.9)}, "the server is asked to end it, so that nothing is left behind there"
    assert len(run.transport.sent("watch")) <= 55
    assert len(run.transport.sent("list")) == 1


# Counters that add up


def test_what_was_received_is_written_suppressed_a_copy_or_put_aside() -> None:
    cluster, dice = Cluster(), random.Random(7)
    received = refused = 0
    nodes = [node(f"n{n}") for n in range(20)]
    for n in range(3000):
        received += 1
        each = {**dice.choice(nodes), "spec": {"unschedulable": dice.random() < 0.3}}
        version = str(n if dice.random() < 0.8 else n - 1)
        made: dict[str, Any] = {**each, "metadata": {**each["metadata"], "resourceVersion": version}}
        if dice.random() < 0.05:
            made["spec"] = "no spec at all"
        try:
            cluster.copy(NODES, made)
        except Terminal:
            refused += 1
    counts = cluster.mirror.counts
    written = len(cluster.changes())
    assert received == written + counts["suppressed"] + counts["duplicates"] + refused
    assert min(written, counts["suppressed"], refused) > 50


# Events are not all there is


def test_a_wait_is_told_by_conditions_alone_however_often_they_change_and_though_nobody_writes_an_event() -> None:
    texts = ("0/8 nodes are available: 8 Insufficient cpu.", "0/8 nodes are available: 8 Insufficient memory.")
    story = Story().batch_job().after(10)
    for n in range(100):
        story.pod("a", text=texts[n % 2], wanted=NodesWanted(total=8, open=8)).after(5000)
    told = story.tell()
    assert told.wait["phase"] == "waiting"
    assert [resource for _, _, resource in told.reasons()][-100:] == ["cpu", "memory"] * 50
    assert {row["evidence"] for row in told.segments[-100:]} == {"condition"}


def test_another_message_on_the_same_event_is_another_observation() -> None:
    cluster = Cluster()
    about = cluster.add(PODS, pod("one"))
    for text in ("(combined from similar events): 0/5 nodes", "(combined from similar events): 0/6 nodes"):
        cluster.modify(EVENTS, event("said", about, note=text, count=26))
    found = [record.data for record in cluster.events()]
    assert [seen.message[-9:] for seen in found] == ["0/5 nodes", "0/6 nodes"]
    assert len({seen.uid for seen in found}) == 1
    assert all(seen.aggregated for seen in found)


# Memory and time


def test_of_an_event_only_a_few_words_are_kept_and_nothing_once_it_expired() -> None:
    cluster = Cluster()
    about = cluster.add(PODS, pod("one"))
    cluster.add(EVENTS, event("first", about))
    count = 1500
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for n in range(count):
            cluster.add(EVENTS, event(f"e{n}", about, note="x" * 1000))
            cluster.records.clear()
            cluster.known()
        kept = tracemalloc.get_traced_memory()[0] - before
        for n in range(count):
            cluster.delete(EVENTS, event(f"e{n}", about))
            cluster.records.clear()
            cluster.known()
        gc.collect()
        left = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert kept / count < 500
    assert left < kept / 3


def test_a_pod_is_read_many_times_as_fast_as_through_generated_models() -> None:
    body = json.dumps(_pod_with_everything()).encode()
    api = official.ApiClient(official.Configuration())

    class Answer:
        data = body.decode()

    ours_s, theirs_s = _best_s(
        lambda: projection.read(pod_kind.KIND, body, "added", Arrival(BEGIN_MS), Limits()),
        lambda: api.deserialize(Answer.data, "V1Pod", "application/json"),
    )
    assert theirs_s / ours_s > 5


def _best_s(*works: Callable[[], object]) -> list[float]:
    """Of twenty each, by turns: a busy machine only makes single ones slower, and a slow while makes all of them so."""
    taken_s: list[list[float]] = [[] for _ in works]
    for _ in range(20):
        for work, each in zip(works, taken_s, strict=True):
            began_s = time.perf_counter()
            work()
            each.append(time.perf_counter() - began_s)
    return [min(each) for each in taken_s]


# Whatever an object holds


BAD: tuple[Any, ...] = (
    None, "", 0, -1, 1e308, 2**70, "x" * 100, [], {}, [None], [{}], {"": None}, True, "9999-99-99T99:99:99Z",
    "0001-01-01T00:00:00Z", "1e999999999", "99999999999999999999Ei", "NaN", "\x00", "-0", {"a": {"b": [1]}},
)  # fmt: skip


def test_whatever_an_object_holds_it_is_read_or_refused_and_never_more() -> None:
    dice = random.Random(11)
    models = {
        PODS: _pod_with_everything(), NODES: node("n", labels={"a": "b"}), JOBS: thing("train"),
        EVENTS: event("said", pod("one"), series={"count": 2, "lastObservedTime": "2026-03-02T08:00:00.000000Z"}),
    }  # fmt: skip
    mirror, now, outcomes = Mirror("test", "collector", MirrorOptions()), BEGIN_MS, {True: 0, False: 0}
    for kind in KINDS:
        mirror.list_begin(kind.name, now)
        mirror.list_end(kind.name, "1", now, None)
    for n in range(4000):
        key = dice.choice(list(models))
        made = _spoiled(models[key], dice)
        if isinstance(made.get("metadata"), dict):
            made["metadata"]["resourceVersion"] = str(n)
        try:
            mirror.frame(key, dice.choice(("ADDED", "MODIFIED", "DELETED")), json.dumps(made).encode(), now)
        except Terminal:
            outcomes[False] += 1
        else:
            outcomes[True] += 1
        now += dice.choice((1, 500, 3000))
        mirror.tick(now)
    assert min(outcomes.values()) > 400, outcomes


def _spoiled(model: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    made = copy.deepcopy(model)
    for _ in range(dice.choice((1, 1, 2))):
        path = dice.choice(list(_paths(made)))
        place: Any = made
        for step in path[:-1]:
            place = place[step]
        if dice.random() < 0.1:
            del place[path[-1]]
        else:
            place[path[-1]] = copy.deepcopy(dice.choice(BAD))
        if not made:
            return copy.deepcopy(model)
    return made


def _paths(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in pairs:
        yield (*here, key)
        yield from _paths(each, (*here, key))


def _pod_with_everything() -> dict[str, Any]:
    made = owned(
        pod("train-0", labels={"app": "train"}, annotations={"volcano.sh/sla-waiting-time": "30m"}), "Job", "train"
    )
    made["metadata"] |= {"creationTimestamp": "2026-03-02T08:00:00Z", "resourceVersion": "1"}
    asks = {"requests": {"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": "8"}}
    made["spec"] |= {
        "nodeSelector": {"pool": "gpu"}, "priority": 100, "priorityClassName": "high",
        "containers": [{"name": f"c{n}", "image": "registry.invalid/x:1", "resources": asks,
                        "env": [{"name": f"E{m}", "value": "v"} for m in range(20)]} for n in range(4)],
        "tolerations": [{"key": "dedicated", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 300}],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}]}}},
        "schedulingGates": [{"name": "example.com/hold"}],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    }  # fmt: skip
    made["status"]["conditions"] = [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/8 nodes are available.",
         "lastTransitionTime": "2026-03-02T08:00:01Z"}
    ]  # fmt: skip
    return made
