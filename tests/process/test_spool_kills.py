"""A collector killed at any point of a commit: the log holds all that the checkpoint says, and the next one goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from collector.spool.checkpoint import Checkpoint
from pipeline import faults
from pipeline.config.places import Places
from pipeline.log import LogOptions, LogReader, LogWriter
from pipeline.records import codec
from pipeline.records.envelope import ObjectRecord

ROOT = Path(__file__).parents[2]
CHILD = ROOT / "tests" / "support" / "spool_child.py"


def run_until_killed(data_dir: Path, kill_at: str) -> list[int]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), faults.ENVIRONMENT: kill_at}
    done = subprocess.run(
        [sys.executable, "-P", str(CHILD), str(data_dir)], capture_output=True, text=True, env=environment, timeout=60
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    return [int(word) for word in done.stdout.split()]


def in_log(places: Places) -> list[int]:
    numbers: list[int] = []
    with LogReader(places.records, "test") as reader:
        while True:
            batch = reader.read()
            assert batch.lost_bytes == 0
            if not batch.entries:
                return numbers
            records = [codec.decode(entry.line) for entry in batch.entries]
            numbers += [int(record.data.version) for record in records if isinstance(record, ObjectRecord)]


def test_the_log_holds_everything_up_to_the_checkpoint_whenever_the_collector_dies(tmp_path: Path) -> None:
    places = Places(tmp_path)
    committed = -1
    for kill_at in (
        "log.write:1",
        "log.index:2",
        "spool.commit:1",
        "log.write:5",
        "spool.commit:3",
        "log.index.write:2",
    ):
        said = run_until_killed(tmp_path, kill_at)
        committed = max([committed, *said])
        checkpoint = Checkpoint(places.collector_db, "c1")
        version = int(checkpoint.load().watches["pods"].version) if said or committed >= 0 else -1
        known = {int(each.version) for each in checkpoint.known()}
        checkpoint.close()
        assert version == committed, "what commit said is durable, and nothing else is"
        assert known == set(range(version + 1)), "known objects move with the version, in one step"
        assert set(range(version + 1)) <= set(in_log(places))
    LogWriter(places.records, options=LogOptions(cluster="c1", min_free_bytes=0)).close()
    written = in_log(places)
    assert committed >= 250
    assert written == list(range(max(written) + 1)), "in order, without a hole, and nothing twice"
