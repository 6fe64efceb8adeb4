"""A replay killed again and again, several passes of it, each compared with a straight pass: every row and column of the
tables, every decision of the log, and what `why` shows of them."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.records.envelope import DecisionRecord
from tests.chaos import deaths, decided
from tests.support import straight
from tests.support.running import Pipeline
from tests.support.straight import Rows

LONGEST_S = 6.0
"""A random death comes at most so long after the start, or after the page is up."""
SHARE = 5
"""Of so many kills one is inside each group of writes; the rest are at random."""
SEGMENTS = ("--set", "collector.spool.segment_bytes=256KiB")
"""Small ones: with each comes a snapshot of the shadow."""


class Pass(NamedTuple):
    """What a pass has come to. `sights`: the scheduler's part of `why`, by job and moment."""

    rows: dict[str, Rows]
    decisions: list[DecisionRecord]
    sights: dict[str, dict[str, Any] | None]


def run(recording: Path, folder: Path, *, kills: int, passes: int, speed: str, seed: int) -> bool:
    """Prints every death and every difference; whether there was none, and enough kills were inside a write."""
    dice = random.Random(seed)
    end_ms = straight.end_ms(recording)
    expected = _finish(_replay(recording, folder / "straight", "max"), end_ms)
    counts: Counter[str] = Counter()
    rows: Counter[str] = Counter()
    wrong = decided.doubled(expected.decisions)
    print("\n".join(wrong) or f"a straight pass: {len(expected.decisions)} decisions", flush=True)
    for number in range(passes):
        each = kills // passes + (number < kills % passes)
        data = folder / f"pass{number + 1}"
        print(f"pass {number + 1}: {each} kills", flush=True)
        pipeline = _replay(recording, data, speed)
        for death in deaths.drawn(dice, each, dict.fromkeys(deaths.GROUPS, each // SHARE), LONGEST_S):
            deaths.live_and_die(pipeline, death, counts)
        found = _finish(pipeline, end_ms)
        differences = straight.compare(expected.rows, found.rows)
        rows.update({each.table: each.rows for each in differences})
        own = [*(str(each) for each in differences if not each.none), *_decided(expected, found)]
        print("  the same" if not own else "\n".join(f"  {text}" for text in own), flush=True)
        wrong += own
        shutil.rmtree(data)
    print("at each point: " + deaths.points(counts))
    print("rows compared: " + ", ".join(f"{table} {count}" for table, count in rows.items() if count))
    shown = sum(sight is not None for sight in expected.sights.values())
    print(
        f"compared {passes} times: {len(expected.decisions)} decisions of the log, {len(expected.sights)} `why`"
        f" ({shown} with reasons of the shadow)"
    )
    same = "0 lost, 0 extra, 0 different" if not wrong else f"{len(wrong)} differences, see above"
    print(f"{deaths.told(counts)}; {same}")
    return not wrong and deaths.enough(counts)


def _finish(pipeline: Pipeline, end_ms: int) -> Pass:
    with straight.finished(pipeline, end_ms):
        rows, decisions = straight.read(pipeline), decided.records(pipeline.data)
        jobs = {
            "/".join(row[name] for name in ("cluster", "namespace", "job_kind", "job_name"))
            for row in rows["job_wait"].values()
        }
        began_ms = min(each.data.session_ms for each in decisions)
        moments = (began_ms + (end_ms - began_ms) // 2, end_ms)
        sights = {f"{job} at {at_ms}": _sight(pipeline, job, at_ms) for job in sorted(jobs) for at_ms in moments}
    return Pass(rows, decisions, sights)


def _sight(pipeline: Pipeline, job: str, at_ms: int) -> dict[str, Any] | None:
    """None too for a job that did not wait yet."""
    try:
        return decided.sights(pipeline, job, at_ms)
    except OSError:
        return None


def _decided(expected: Pass, found: Pass) -> list[str]:
    """How a pass differs from the straight one in its decisions and in what `why` shows of them."""
    wrong = decided.doubled(found.decisions)
    wanted, made = ({each.id: each.data for each in one.decisions} for one in (expected, found))
    wrong += [f"lost: decision {each}" for each in wanted if each not in made]
    wrong += [f"extra: decision {each}" for each in made if each not in wanted]
    wrong += [f"different: decision {each}" for each in wanted if each in made and made[each] != wanted[each]]
    return wrong + [f"why {each} differs" for each in expected.sights if expected.sights[each] != found.sights[each]]


def _replay(recording: Path, data: Path, speed: str) -> Pipeline:
    return Pipeline(data, "--replay", str(recording), "--speed", speed, *SEGMENTS)
