"""The compiled core beside the interpreted one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import native, scheduler_told

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(not native.COMPILED, reason="compares the compiled core, and this is the interpreted one")
def test_the_compiled_core_decides_to_the_byte_what_the_interpreted_one_decides():
    child = subprocess.run(
        [sys.executable, "-m", "tests.support.scheduler_told"], cwd=ROOT, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONSAFEPATH": "1", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    core, *told = child.stdout.splitlines()
    assert core == scheduler_told.INTERPRETED
    assert told == list(scheduler_told.lines())
