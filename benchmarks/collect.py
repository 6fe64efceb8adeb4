"""Decode, project, facts, log: pods of 2.8 KB as a watch stream, against the official client's `Watch` over the same bytes.

A pod comes, is refused and gets its node: three frames a pod, as far as a wait goes. New pods alone are dearer, since
their links are followed; they have a figure of their own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from benchmarks import lives, objects
from benchmarks.figures import Clocks, Figure, measured, rss_bytes
from benchmarks.objects import BEGIN_MS
from collector.spool.spool import Spool
from collector.watch.follower import Follower
from collector.watch.scribe import Scribe
from pipeline.config.places import Places
from pipeline.kubeapi import frames
from pipeline.kubeapi import happenings as tell
from pipeline.kubeapi.lines import LineSplitter
from pipeline.log import LogOptions
from pipeline.records import shapes

JOBS = 1_000
PODS = 8
"""Of each job."""
BASELINE_FRAMES = 2_000
KNOWN = 100_000
CHUNK = 64 << 10
TURN_CHUNKS = 40
"""Between two fsyncs: about what comes in a turn of the collector at this rate."""
ROUNDS = 5


def run() -> Iterable[Figure]:
    """Memory per known pod, while nothing else was in memory; then rates beside the official client's."""
    yield _memory()
    lines = list(_stream())
    yield _rate("collect_pods", lines)
    yield _rate("collect_new_pods", lines[: len(lines) // len(_STEPS)])
    yield _rate("collect_checkpointed", lines, checkpoint=True)


_STEPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("ADDED", {"tried": False}),
    ("MODIFIED", {}),
    ("MODIFIED", {"node": "gpu-7", "bound_ms": BEGIN_MS + 9000}),
)
"""A pod comes, is refused, gets a node."""


def _stream() -> Iterator[bytes]:
    count = JOBS * PODS
    for step, (type, states) in enumerate(_STEPS):
        for number in range(count):
            made = objects.pod(number // PODS, number % PODS, BEGIN_MS, 1000 + step * count + number, **states)
            yield msgspec.json.encode({"type": type, "object": made}) + b"\n"


def _rate(name: str, lines: list[bytes], *, checkpoint: bool = False) -> Figure:
    """The median pass. The official client takes its turn between the passes, so both see the same machine."""
    data, sample = b"".join(lines), b"".join(lines[:BASELINE_FRAMES])
    pairs = [(_pass(data, checkpoint), _official(sample)) for _ in range(ROUNDS)]
    passes = sorted((clocks for clocks, _ in pairs), key=lambda each: each.cpu_s)
    clocks = passes[ROUNDS // 2]
    return Figure(
        name=name, value=len(lines) / clocks.cpu_s, unit="pods/cpu-s", goal=60_000, baseline=median(rate for _, rate in pairs),
        setup={"frames": len(lines), "bytes_a_frame": len(data) // len(lines), "wall_s": round(clocks.wall_s, 2),
               "best": round(len(lines) / passes[0].cpu_s), "baseline": "kubernetes.watch.Watch"},
    )  # fmt: skip


def _pass(data: bytes, checkpoint: bool) -> Clocks:
    """Bytes of a stream to a durable log."""
    mirror = lives.mirror(JOBS)
    options = LogOptions(cluster="bench", min_free_bytes=0)
    with tempfile.TemporaryDirectory() as folder, Spool(Places(Path(folder)), options=options) as spool:
        scribe = Scribe(spool, mirror, Follower(mirror))
        with measured() as clocks:
            for number, happening in enumerate(_happenings(data), 1):
                scribe.hear("pods", happening)
                if number % TURN_CHUNKS == 0:
                    scribe.checkpoint(BEGIN_MS) if checkpoint else scribe.flush()
            scribe.checkpoint(BEGIN_MS) if checkpoint else scribe.flush()
        if spool.log.stamp != BEGIN_MS:
            raise RuntimeError("the frames gave no records")
    return clocks


def _happenings(data: bytes) -> Iterator[tell.Happening]:
    """As a reflector tells them: the frames that a chunk completes."""
    splitter, reader = LineSplitter(), frames.Reader(shapes.shape_of("", "Pod"))
    for begin in range(0, len(data), CHUNK):
        decoded = reader.read(splitter.feed(data[begin : begin + CHUNK]))
        found = [each for each in decoded if isinstance(each, frames.Frame)]
        if found:
            yield tell.Frames(BEGIN_MS, found)


def _memory() -> Figure:
    mirror = lives.mirror(KNOWN // PODS)
    before = rss_bytes()
    for number in range(KNOWN):
        made = objects.pod(number // PODS, number % PODS, BEGIN_MS, number)
        mirror.frame("pods", "ADDED", msgspec.json.encode(made), BEGIN_MS)
    mirror.take_changes()
    return Figure(
        name="memory_per_known_pod", value=(rss_bytes() - before) / KNOWN / 1024, unit="KiB", goal=2.5,
        higher_is_better=False, setup={"pods": KNOWN},
    )  # fmt: skip


def _official(data: bytes) -> float:
    """Frames a CPU second of the official client over the same bytes, with its models."""
    from kubernetes import client, watch

    class Response:
        """What the client reads a stream from."""

        def stream(self, amt: int | None = None, decode_content: bool = False) -> Iterator[bytes]:
            for begin in range(0, len(data), CHUNK):
                yield data[begin : begin + CHUNK]

        def close(self) -> None: ...

        def release_conn(self) -> None: ...

    def list_pod_for_all_namespaces(*_: Any, **__: Any) -> Response:
        """:return: V1PodList"""
        return Response()

    watcher = watch.Watch(return_type=client.V1Pod)
    seen = 0
    with measured() as clocks:
        for _ in watcher.stream(list_pod_for_all_namespaces, timeout_seconds=1):
            seen += 1
            if seen == BASELINE_FRAMES:
                watcher.stop()
    return seen / clocks.cpu_s
