"""A collector's hand, for tests that kill it: `spool_child.py DATA_DIR` writes records and commits for ever.

Goes on where the log ends, as a collector does; prints the version of each commit that returned.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from collector.kinds.known import KnownChanges, KnownObject
from collector.spool.checkpoint import Watch
from collector.spool.spool import Spool
from pipeline.config.places import Places
from pipeline.log import LogOptions
from pipeline.records.envelope import ObjectRecord
from pipeline.records.objects import ObjectChange

BATCH = 50


def record(number: int) -> ObjectRecord:
    return ObjectRecord(
        id=f"c1/u{number}/{number}/added",
        source="kube",
        cluster="c1",
        partitionkey="7",
        observedms=1000 + number,
        data=ObjectChange(change="added", kind="Pod", name="p" * 9000, uid=f"u{number}", version=str(number)),
    )


def main(directory: str) -> None:
    with Spool(Places(Path(directory)), options=LogOptions(cluster="c1", min_free_bytes=0)) as spool:
        tail = [int(record.data.version) for record in spool.tail() if isinstance(record, ObjectRecord)]
        done = tail[-1] if tail else int(spool.versions().get("pods", "-1"))
        for begin in itertools.count(done + 1, BATCH):
            numbers = range(begin, begin + BATCH)
            spool.write([record(number) for number in numbers])
            known = [KnownObject("pods", f"u{number}", str(number)) for number in (*tail, *numbers)]
            tail = []
            spool.commit(KnownChanges(known, []), [Watch("pods", str(numbers[-1]), 1)])
            print(numbers[-1], flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
