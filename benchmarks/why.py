"""How long a person waits for an answer: `why` over the API and as a command, with 100,000 jobs stored and the loader at work.

The parts run as in `up`: aggregation, loader and API in one process, the local Doris its child. Each question is about
another job, so that no answer comes from a cache.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median

import msgspec

from benchmarks import lives, objects, stack
from benchmarks.figures import Figure, percentile
from benchmarks.objects import BEGIN_MS
from dashboards.app import Dashboards
from dashboards.settings import Settings
from dashboards.store import Store
from pipeline.config.places import Places
from pipeline.doris import local
from pipeline.doris.settings import Settings as Doris
from pipeline.doris.streamload import StreamLoad
from pipeline.records import times
from pipeline.records.rows import Row
from sinks.batch import Batch

JOBS = 100_000
FIRST = 1_000_000
"""Numbers of the stored jobs begin here: those of the stream are below."""
STEP = 10_000
ASKED = 150
COMMANDS = 10
PER_S = 1_000
SECONDS = 40
VERSION = 1 << 44


def run() -> Iterable[Figure]:
    """Over HTTP, then whole processes of the command."""
    records = list(itertools.islice(lives.records(lives.day(PER_S, 53, 40_000, 60_000)), PER_S * SECONDS))
    with tempfile.TemporaryDirectory() as name, stack.running(Path(name)) as doris:
        _store(doris)
        page = _page(Path(name))
        page.start()
        try:
            with stack.Stream(Path(name), records, PER_S) as stream:
                asked = _ask(page.url, random.Random(1).sample(range(JOBS), ASKED + COMMANDS))
                over_http, commands = asked[:ASKED], asked[ASKED:]
                busy = len(stream.logged) < len(records) // round(PER_S * stack.TURN_S)
        finally:
            page.stop(5.0)
    setup = {"jobs": JOBS, "records_a_second": PER_S, "stream_to_the_end": busy, "clock": "wall"}
    yield Figure(
        name="why_api_p95", value=percentile(over_http, 0.95), unit="ms", goal=150, higher_is_better=False,
        setup={**setup, "questions": ASKED, "median": round(median(over_http), 1)},
    )  # fmt: skip
    yield Figure(
        name="why_command_p95", value=percentile(commands, 0.95), unit="ms", goal=600, higher_is_better=False,
        setup={**setup, "commands": COMMANDS, "median": round(median(commands), 1)},
    )  # fmt: skip


def _page(folder: Path) -> Dashboards:
    settings = Settings(port=0)
    store = Store(
        lambda: local.locate(Doris(), Places(folder).doris),
        keep_s=settings.cache, timeout_s=settings.query_timeout, max_connections=settings.max_connections,
        max_rows=settings.max_rows,
    )  # fmt: skip
    return Dashboards(settings, store)


def _ask(url: str, jobs: list[int]) -> list[float]:
    """Milliseconds of each question: first those over HTTP, then the commands."""
    taken = []
    for place, number in enumerate(jobs):
        name, namespace = f"train-{FIRST + number}", objects.namespace_of(number)
        began_s = time.perf_counter()
        if place < ASKED:
            path = f"{url}/api/v1/jobs/{stack.CLUSTER}/{namespace}/Job/{name}/why"
            with urllib.request.urlopen(path, timeout=30) as answer:
                found = msgspec.json.decode(answer.read())
        else:
            found = msgspec.json.decode(_command(url, name, namespace))
        taken.append(1000 * (time.perf_counter() - began_s))
        if found["job"]["name"] != name or not found["sentence"]:
            raise RuntimeError(f"no answer about {name}: {found}")
    return taken


def _command(url: str, name: str, namespace: str) -> bytes:
    command = [str(Path(sys.executable).with_name("kube-collector")), "why", name, "-n", namespace, "-o", "json"]
    env = {**os.environ, "KUBE_COLLECTOR_URL": url}
    return subprocess.run(command, check=True, env=env, stdout=subprocess.PIPE).stdout


def _store(doris: Doris) -> None:
    """The rows of all jobs: each waited once, for two reasons, over the boundary of an hour."""
    with StreamLoad(doris) as client:
        for begin in range(0, JOBS, STEP):
            batch = Batch()
            for number in range(begin, begin + STEP):
                for row in _rows(number):
                    batch.add(row)
            for load in batch.loads():
                client.load(load.table, b"\n".join(load.lines), rows=len(load.lines), label=uuid.uuid4().hex)


def _rows(number: int) -> Iterator[Row]:
    start = BEGIN_MS - 3 * times.HOUR_MS + number * 50
    turn, end = start + 1_200_000, start + 4_000_000
    shared = {
        "day": times.day_ms(start), "cluster": stack.CLUSTER, "job_uid": f"stored-{number}", "episode": 1,
        "namespace": objects.namespace_of(number), "job_kind": "Job", "job_name": f"train-{FIRST + number}",
        "tenant": objects.namespace_of(number), "queue": "research",
    }  # fmt: skip
    led = {"leading_reason": "insufficient_resource", "leading_resource": "nvidia.com/gpu", "leading_share": 0.7}
    yield Row("job_wait", VERSION, {
        **shared, **led, "tasks": 4, "minimum": 4, "gpus": 4, "cpus_milli": 16_000, "memory_bytes": 64 << 30,
        "created_at": start, "started_at": start, "scheduled_at": end, "ended_at": end, "phase": "scheduled",
        "cause": "", "sla": "met_late", "promise_ms": 600_000, "promise_source": "job sla-waiting-time",
        "deadline_at": start + 600_000, "wait_ms": end - start, "estimated_ms": 0, "gap_ms": 0, "partial": False, "as_of": end,
    })  # fmt: skip
    parts = ((start, turn, "quota", None), (turn, end, "insufficient_resource", "nvidia.com/gpu"))
    for n, (begin, to, reason, resource) in enumerate(parts, 1):
        yield Row("wait_segment", VERSION, {
            **shared, "n": n, "reason": reason, "resource": resource, "from_at": begin, "to_at": to, "ms": to - begin,
            "nodes": 200, "total_nodes": 300, "message": objects.REFUSED, "evidence": "condition", "estimated": False,
            "as_of": end,
        })  # fmt: skip
        yield Row("wait_reason_hour", VERSION, {
            **shared, "hour": begin - begin % times.HOUR_MS, "reason": reason, "resource": resource or "",
            "wait_ms": to - begin, "gpu_ms": 4 * (to - begin),
        })  # fmt: skip
