"""What every test begins with.

Drawn examples are the same on every run, so that a run is green or red by the code alone (Hypothesis still mixes in constants
of whatever modules are loaded). `KC_EXPLORE=1` draws others on each run; what it finds becomes a test.

Under nohup SIGHUP is ignored, and would be in every process that a test starts, which ours heed. What is handled is not handed
down, so here it is handled by doing nothing.
"""

from __future__ import annotations

import os
import signal

from hypothesis import settings

settings.register_profile("fixed", derandomize=True, print_blob=True)
settings.register_profile("explore", print_blob=True)
settings.load_profile("explore" if os.environ.get("KC_EXPLORE") else "fixed")

if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)
