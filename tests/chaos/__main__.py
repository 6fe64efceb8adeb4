"""`python -m tests.chaos replay` and `python -m tests.chaos live`: see the package's text."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.chaos import lives, replays

RECORDING = Path(__file__).parents[2] / "examples" / "kube-a"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("what", choices=["replay", "live"])
    parser.add_argument("--kills", type=int, help="how often to kill it (50 in a replay, 24 live)")
    parser.add_argument("--passes", type=int, default=5, help="over how many passes of the recording")
    parser.add_argument("--recording", type=Path, default=RECORDING)
    parser.add_argument("--speed", default="4x", help="pace of the replay while it is killed")
    parser.add_argument("--rate", type=float, default=3.0, help="changes a second that a live cluster is loaded with")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--keep", type=Path, help="folder for all that is written, which stays; else a temporary one")
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    with ExitStack() as opened:
        folder = given.keep or Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="kube-collector-chaos-")))
        if given.what == "live":
            same = lives.run(folder, kills=given.kills or 24, seed=given.seed, rate=given.rate)
        else:
            same = replays.run(
                given.recording,
                folder,
                kills=given.kills or 50,
                passes=given.passes,
                speed=given.speed,
                seed=given.seed,
            )
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
