"""How drawn examples are chosen: the same on every run, so that a run is green or red by the code alone.

`KC_EXPLORE=1` draws others on each run, to look for what the fixed ones do not show; what it finds becomes a test.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("fixed", derandomize=True, print_blob=True)
settings.register_profile("explore", print_blob=True)
settings.load_profile("explore" if os.environ.get("KC_EXPLORE") else "fixed")
