"""The whole pipeline killed with SIGKILL, again and again: in the end the tables hold what a straight pass gives them.

This is the short form; `make chaos` is the long one, with many more kills, at random, and on a live cluster.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline import faults
from tests.chaos import decided
from tests.support import straight
from tests.support.cluster import poll
from tests.support.running import Pipeline
from tests.support.straight import Rows

RECORDING = Path(__file__).parents[2] / "examples" / "kube-a"
PACE = "20x"
SLOWLY = "2x"
"""In lives that end at a fault point: a recording that is over before it may never pass there again."""
SEGMENTS = ("--set", "collector.spool.segment_bytes=256KiB")
"""Small ones: with each comes a snapshot of the shadow."""
END_MS = straight.end_ms(RECORDING)


def replay(folder: Path, speed: str = PACE) -> Pipeline:
    return Pipeline(folder, "--replay", str(RECORDING), "--speed", speed, *SEGMENTS)


@pytest.fixture
def pipeline(tmp_path: Path) -> Iterator[Pipeline]:
    """One that is not started yet."""
    made = replay(tmp_path / "data")
    yield made
    made.kill()


@pytest.fixture
def short_lived(tmp_path: Path) -> Iterator[Pipeline]:
    """One that is not started yet, for lives that end at a fault point."""
    made = replay(tmp_path / "data", SLOWLY)
    yield made
    made.kill()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    """Rows of a straight pass."""
    rows = straight.finish(replay(tmp_path_factory.mktemp("straight") / "data", "max"), END_MS)
    assert all(rows[name] for name in (*straight.JUDGED, "object_change", "event"))
    return rows


def same(expected: dict[str, Rows], found: dict[str, Rows]) -> None:
    wrong = [str(each) for each in straight.compare(expected, found) if not each.none]
    assert not wrong, "\n".join(wrong)


def die_at(pipeline: Pipeline, point: str) -> None:
    """A life that ends, with its local Doris, at a fault point."""
    pipeline.launch(**{faults.ENVIRONMENT: point, faults.GROUP: "1"})
    assert pipeline.process is not None
    assert pipeline.process.wait(straight.LIMIT_S) == -signal.SIGKILL, point
    pipeline.kill()


def finish(pipeline: Pipeline) -> dict[str, Rows]:
    """The rest of it, at full speed."""
    return straight.finish(replay(pipeline.data, "max"), END_MS)


def test_killed_inside_its_writes_and_at_any_moment_it_ends_as_if_nothing_had_been(
    expected: dict[str, Rows], short_lived: Pipeline
) -> None:
    for point in (
        "log.index:3",
        "aggregation.transaction:3",
        "sinks.loaded:4",
        "doris_local.commit:6",
        "spool.commit:4",
    ):
        die_at(short_lived, point)
    short_lived.start()
    short_lived.kill()
    same(expected, finish(short_lived))


def test_killed_inside_the_shadows_writes_it_says_everything_once(
    expected: dict[str, Rows], short_lived: Pipeline
) -> None:
    for point in ("scheduler.append:2", "scheduler.snapshot:1", "log.index:4"):
        die_at(short_lived, point)
    same(expected, finish(short_lived))
    made = decided.records(short_lived.data)
    assert decided.doubled(made) == []
    assert {each.id for each in made} == {key[-1] for key in expected["decision"]}


def test_a_local_doris_that_dies_or_stands_still_is_caught_up_with(
    expected: dict[str, Rows], pipeline: Pipeline
) -> None:
    def warehouse(number: signal.Signals) -> None:
        pid = pipeline.warehouse_pid
        assert pid is not None
        os.kill(pid, number)

    with pipeline:
        poll("something is loaded", lambda: straight.loaded_ms(pipeline) > 0, straight.LIMIT_S)
        warehouse(signal.SIGKILL)
        poll("it loads again", advances(pipeline), straight.LIMIT_S)
        warehouse(signal.SIGSTOP)
        time.sleep(1.5)  # loads are under way or wait, the log goes on
        warehouse(signal.SIGCONT)
        poll("it loads again", advances(pipeline), straight.LIMIT_S)
        os.killpg(pipeline.process.pid, signal.SIGSTOP)
        time.sleep(1.5)
        os.killpg(pipeline.process.pid, signal.SIGCONT)
        straight.await_end(pipeline, END_MS)
        same(expected, straight.read(pipeline))


def test_a_local_doris_that_dies_inside_its_commits_is_started_again_and_caught_up_with(
    expected: dict[str, Rows], pipeline: Pipeline
) -> None:
    pipeline.launch(**{faults.ENVIRONMENT: "doris_local.commit:40"})  # each of its lives ends at its 40th
    pipeline.answers()
    straight.await_end(pipeline, END_MS)
    same(expected, straight.read(pipeline))
    assert "local_doris_ended" in pipeline.log.read_text()


def advances(pipeline: Pipeline) -> Callable[[], bool]:
    """Whether more is loaded than was when this was called, or all there is."""
    before_ms = straight.loaded_ms(pipeline)
    return lambda: straight.loaded_ms(pipeline) > min(before_ms, END_MS - 1)
