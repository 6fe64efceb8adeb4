"""Cases and recordings from other folders. A folder that is named and missing is a slip of the pen, not an empty folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

for variable in ("KC_CASES", "KC_RECORDINGS"):
    named = os.environ.get(variable)
    if named and not Path(named).is_dir():
        raise pytest.UsageError(f"{variable}={named}: there is no such folder")
