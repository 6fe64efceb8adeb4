"""A replay killed again and again, several passes of it, each compared with a straight pass in every row and column."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path

from tests.chaos import deaths
from tests.support import straight
from tests.support.running import Pipeline

LONGEST_S = 6.0
"""A random death comes at most so long after the start, or after the page is up."""


def run(recording: Path, folder: Path, *, kills: int, passes: int, speed: str, seed: int) -> bool:
    """Prints every death and every difference; whether there was none."""
    dice = random.Random(seed)
    end_ms = straight.end_ms(recording)
    expected = straight.finish(_replay(recording, folder / "straight", "max"), end_ms)
    counts: Counter[str] = Counter()
    rows: Counter[str] = Counter()
    same = True
    for number in range(passes):
        each = kills // passes + (number < kills % passes)
        data = folder / f"pass{number + 1}"
        print(f"pass {number + 1}: {each} kills", flush=True)
        pipeline = _replay(recording, data, speed)
        for death in deaths.drawn(dice, each, dict.fromkeys(deaths.GROUPS, each // 4), LONGEST_S):
            deaths.live_and_die(pipeline, death, counts)
        found = straight.finish(pipeline, end_ms, limit_s=300)
        for difference in straight.compare(expected, found):
            rows[difference.table] += difference.rows
            if not difference.none:
                same = False
                print(f"  {difference}", flush=True)
        shutil.rmtree(data)
    print(deaths.told(counts))
    print("rows compared: " + ", ".join(f"{table} {count}" for table, count in rows.items() if count))
    print("0 lost, 0 extra, 0 different" if same else "there are differences, see above")
    return same


def _replay(recording: Path, data: Path, speed: str) -> Pipeline:
    return Pipeline(data, "--replay", str(recording), "--speed", speed)
