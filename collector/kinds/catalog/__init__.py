"""One file a kind, all of the same shape: a `KIND`, and the functions that read what its joins need.

A new kind is a new file here, its shape in `pipeline.records.shapes`, and its line in `kinds.KINDS`.
"""

from __future__ import annotations

from collector.kinds.catalog.kinds import KINDS, extra

__all__ = ["KINDS", "extra"]
