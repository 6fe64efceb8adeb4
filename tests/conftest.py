"""What every test begins with.

Drawn examples are the same on every run, so that a run is green or red by the code alone (Hypothesis still mixes in constants
of whatever modules are loaded). `KC_EXPLORE=1` draws others on each run; what it finds becomes a test.

SIGHUP is as a terminal has it: a run under nohup would hand down that it is ignored, and processes that tests start heed that.
"""

from __future__ import annotations

import os
import signal

from hypothesis import settings

settings.register_profile("fixed", derandomize=True, print_blob=True)
settings.register_profile("explore", print_blob=True)
settings.load_profile("explore" if os.environ.get("KC_EXPLORE") else "fixed")

signal.signal(signal.SIGHUP, signal.SIG_DFL)
