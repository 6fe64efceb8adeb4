"""A cluster that was restored from an older copy: a list shows versions of before, and they are believed."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.records.envelope import GapRecord, ObjectRecord
from tests.support.mirrored import PODS, Cluster, pod

RISING, OPAQUE = ("7", "8", "10"), ("c-first", "a-second", "b-third")


def at(version: str, name: str = "a", **labels: str) -> dict[str, Any]:
    made = pod(name)
    return {**made, "metadata": {**made["metadata"], "resourceVersion": version, "labels": labels}}


def frame(cluster: Cluster, type: str, each: dict[str, Any]) -> None:
    cluster.take(cluster.mirror.frame(PODS, type, cluster._bytes(each), cluster.now))


def ids(cluster: Cluster) -> list[str]:
    return [record.id for record in cluster.records if isinstance(record, ObjectRecord)]


@pytest.mark.parametrize(("first", "second", "third"), [RISING, OPAQUE])
def test_an_object_that_is_as_it_was_is_told_as_that(first: str, second: str, third: str) -> None:
    cluster = Cluster()
    frame(cluster, "ADDED", at(first))
    frame(cluster, "MODIFIED", at(second, x="1"))
    frame(cluster, "MODIFIED", at(third, x="2"))
    cluster.wrote()
    cluster.now += 60_000
    cluster.list(PODS, at(second, x="1"), unseen_since=cluster.now - 30_000)
    (back, gap) = cluster.wrote()
    assert isinstance(back, ObjectRecord)
    assert (back.data.change, back.data.version, back.data.synthetic) == ("modified", second, True)
    assert isinstance(gap, GapRecord)
    assert gap.data.changed == 1
    frame(cluster, "MODIFIED", at(third, x="3"))
    assert [(each.change, each.version) for each in cluster.changes()] == [("modified", third)]


def test_its_record_is_no_copy_of_the_one_that_told_that_version_first() -> None:
    cluster = Cluster()
    for type, version in (("ADDED", "7"), ("MODIFIED", "8"), ("MODIFIED", "10")):
        frame(cluster, type, at(version, v=version))
    cluster.now += 60_000
    cluster.list(PODS, at("8", v="8"), unseen_since=cluster.now - 30_000)
    assert len(set(ids(cluster))) == len(ids(cluster)) == 4


def test_what_a_list_does_not_show_and_a_later_one_shows_again_is_there_again() -> None:
    cluster = Cluster()
    frame(cluster, "ADDED", at("7"))
    cluster.now += 60_000
    cluster.list(PODS, unseen_since=cluster.now - 30_000)
    cluster.now += 60_000
    cluster.list(PODS, at("7"), unseen_since=cluster.now - 30_000)
    assert [each.change for each in cluster.changes()] == ["added", "deleted", "added"]
    assert len(set(ids(cluster))) == 3


def test_what_changed_in_a_gap_has_the_identity_that_another_collector_gives_it() -> None:
    """Only what goes back is told under a name of its own."""
    lists, watches = Cluster(), Cluster()
    for cluster in (lists, watches):
        frame(cluster, "ADDED", at("7"))
    lists.list(PODS, at("8", x="1"), unseen_since=lists.now)
    frame(watches, "MODIFIED", at("8", x="1"))
    assert ids(lists) == ids(watches)
