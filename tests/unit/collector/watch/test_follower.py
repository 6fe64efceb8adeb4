"""How far each watch has come, and when a kind keeps the others waiting no longer."""

from __future__ import annotations

import json

import msgspec

from collector.kinds.catalog import KINDS
from collector.kinds.mirror import Mirror, MirrorOptions
from collector.watch.follower import PATIENCE_MS, Follower
from pipeline.kubeapi import frames
from pipeline.kubeapi import happenings as tell
from pipeline.kubeapi.happenings import Doing, Happening, Why
from pipeline.kubeapi.statuses import Action
from pipeline.records import codec, shapes
from pipeline.records.envelope import ObjectRecord, Record
from tests.support.mirrored import BEGIN_MS, JOBS, NODES, PODS, WORKLOADS, owned, pod, thing


class Cluster:
    """A follower whose happenings come one after another; kinds beside those of the test are not served."""

    def __init__(self, *served: str) -> None:
        self.mirror = Mirror("test", "collector", MirrorOptions())
        self.follower = Follower(self.mirror)
        self.follower.absent([kind.name for kind in KINDS if kind.name not in served], BEGIN_MS)
        self.now = BEGIN_MS
        self.written: list[Record] = []

    def tell(self, watch: str, happening: Happening) -> None:
        self.written += self.follower.take(watch, happening)

    def list(self, watch: str, *objects: object) -> None:
        self.tell(watch, tell.ListStarted(self.now, Why.START))
        items = [msgspec.Raw(json.dumps(each).encode()) for each in objects]
        self.tell(watch, tell.ListPage(self.now, items, "", "", "9", last=True))

    def fail(self, watch: str, doing: Doing = Doing.LIST) -> None:
        error = "500: conversion webhook failed"
        self.tell(watch, tell.Retrying(self.now, doing, 1, 1.0, Action.RECONNECT_BACKOFF, error))

    def names(self) -> list[str]:
        return [record.data.name for record in self.written if isinstance(record, ObjectRecord)]


def versioned(each: dict[str, object]) -> dict[str, object]:
    metadata = each["metadata"]
    assert isinstance(metadata, dict)
    return {**each, "metadata": {"resourceVersion": "5", **metadata}}


def test_a_kind_whose_list_fails_and_fails_holds_the_others_back_only_for_a_while() -> None:
    cluster = Cluster(WORKLOADS, PODS)
    cluster.tell(WORKLOADS, tell.ListStarted(cluster.now, Why.START))
    cluster.list(PODS, versioned(pod("a")))
    cluster.now += PATIENCE_MS - 1
    cluster.fail(WORKLOADS)
    assert cluster.names() == [], "it may still come"
    cluster.now += 1
    cluster.fail(WORKLOADS)
    assert cluster.names() == ["a"]
    cluster.list(WORKLOADS, versioned(thing("late")))
    assert cluster.names() == ["a", "late"]


def test_while_no_kind_comes_at_all_every_kind_is_waited_for() -> None:
    cluster = Cluster(NODES, PODS)
    for watch in (NODES, PODS):
        cluster.tell(watch, tell.ListStarted(cluster.now, Why.START))
    cluster.now += 10 * PATIENCE_MS
    cluster.fail(NODES)
    cluster.fail(PODS)
    cluster.list(PODS, versioned(pod("a")))
    assert cluster.names() == [], "the server was away, not the nodes"
    cluster.list(NODES)
    assert cluster.names() == ["a"]


def test_a_kind_that_was_listed_and_fails_later_is_not_absent() -> None:
    cluster = Cluster(JOBS, PODS)
    cluster.list(JOBS)
    cluster.list(PODS)
    cluster.tell(JOBS, tell.ListStarted(cluster.now, Why.EXPIRED))
    cluster.now += 10 * PATIENCE_MS
    cluster.fail(JOBS)
    assert not cluster.follower._places[JOBS].absent


def test_a_kind_that_may_be_watched_again_is_waited_for_again() -> None:
    cluster = Cluster(JOBS, PODS)
    cluster.list(JOBS)
    cluster.list(PODS)
    cluster.tell(JOBS, tell.Forbidden(cluster.now, "for a moment"))
    cluster.tell(JOBS, tell.WatchStarted(cluster.now, "9"))
    train = versioned(owned(pod("train-0"), "Job", "train"))
    line = json.dumps({"type": "ADDED", "object": train}).encode()
    cluster.tell(PODS, tell.Frames(cluster.now, frames.decode(line)))  # type: ignore[arg-type]
    assert cluster.names() == [], "its job may come with the next frame"
    cluster.list(JOBS, versioned(thing("train")))
    assert cluster.names() == ["train", "train-0"]


def test_an_object_that_came_decoded_gives_the_records_of_its_json() -> None:
    told: list[list[Record]] = []
    for reader in (frames.Reader(shapes.shape_of("", "Pod")), frames.Reader()):
        cluster = Cluster(PODS)
        cluster.list(PODS)
        lines = [
            json.dumps({"type": type_, "object": each}).encode()
            for type_, each in (
                ("ADDED", versioned(pod("a"))),
                ("ADDED", {**versioned(pod("b")), "unknown": "x" * 300_000}),
                ("MODIFIED", {**versioned(pod("a")), "spec": {"priority": "high"}}),
                ("ADDED", {"metadata": {"uid": "nameless"}}),
                ("DELETED", versioned(pod("a"))),
            )
        ]
        found = [each for line in lines for each in reader.decode(line) if isinstance(each, frames.Frame)]
        cluster.tell(PODS, tell.Frames(cluster.now, found))
        assert len(cluster.follower.dead) == 2
        told.append(cluster.written)
    decoded, undecoded = ([codec.encode(record) for record in each] for each in told)
    assert decoded == undecoded
    assert len(decoded) == 3
    assert b'"truncated":true' in decoded[1]
