"""What the scribe keeps for the next checkpoint, of a cluster and of a recording."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from collector.kinds.catalog import KINDS
from collector.kinds.known import KnownChanges
from collector.kinds.mirror import Mirror, MirrorOptions
from collector.spool.spool import Spool
from collector.watch.follower import Follower
from collector.watch.scribe import Scribe
from pipeline.config.places import Places
from pipeline.kubeapi import frames
from pipeline.kubeapi import happenings as tell
from pipeline.kubeapi.happenings import Why
from pipeline.log import LogOptions
from tests.support.mirrored import BEGIN_MS, EVENTS, PODS, pod

COUNT = 20


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with Spool(Places(tmp_path), options=LogOptions(cluster="c1", min_free_bytes=0)) as opened:
        yield opened


def play_and_end(scribe: Scribe) -> None:
    """Pods, and an event of each, that come and go, as beats of a recording."""
    scribe.absent([kind.name for kind in KINDS if kind.name not in {PODS, EVENTS}], BEGIN_MS)
    for watch in (PODS, EVENTS):
        scribe.hear(watch, tell.ListStarted(BEGIN_MS, Why.START))
        scribe.hear(watch, tell.ListPage(BEGIN_MS, [], "", "", "9", last=True))
    for type in ("ADDED", "DELETED"):
        for n in range(COUNT):
            scribe.hear(PODS, frame(type, named(pod(f"p{n}"), f"p{n}", type)))
            scribe.hear(EVENTS, frame(type, named({"reason": "Pulled"}, f"e{n}", type)))
        scribe.beat()
        scribe.checkpoint(BEGIN_MS)


def named(each: dict[str, object], name: str, type: str) -> dict[str, object]:
    meta = {"namespace": "n", "name": name, "uid": f"uid-{name}", "resourceVersion": "10" if type == "ADDED" else "11"}
    return {**each, "metadata": meta}


def frame(type: str, each: dict[str, object]) -> tell.Frames:
    found = frames.decode(json.dumps({"type": type, "object": each}).encode())
    assert all(isinstance(one, frames.Frame) for one in found)
    return tell.Frames(BEGIN_MS, [one for one in found if isinstance(one, frames.Frame)])


def test_what_is_known_of_a_recording_is_not_kept_for_a_checkpoint_that_does_not_store_it(spool: Spool) -> None:
    mirror = Mirror("c1", "collector", MirrorOptions())
    play_and_end(Scribe(spool, mirror, Follower(mirror), replayed=0))
    assert mirror.take_changes() == KnownChanges([], [])
    assert list(spool.checkpoint.known()) == []


def test_what_is_known_of_a_cluster_is_stored_and_not_kept_longer(spool: Spool) -> None:
    mirror = Mirror("c1", "collector", MirrorOptions())
    scribe = Scribe(spool, mirror, Follower(mirror))
    scribe.hear(PODS, tell.ListStarted(BEGIN_MS, Why.START))
    scribe.absent([kind.name for kind in KINDS if kind.name != PODS], BEGIN_MS)
    items = [msgspec.Raw(json.dumps(named(pod(f"p{n}"), f"p{n}", "ADDED")).encode()) for n in range(COUNT)]
    scribe.hear(PODS, tell.ListPage(BEGIN_MS, items, "", "", "9", last=True))
    scribe.checkpoint(BEGIN_MS)
    assert mirror.take_changes() == KnownChanges([], [])
    assert len(list(spool.checkpoint.known())) == COUNT
