"""The body of `gap.v1`: from when to when, and from which version to which, changes of a kind may be missing.

For operators and pages: a job's own gap is told by `unseen_since` on its objects (rule P5).
"""

from __future__ import annotations

from typing import Final

import msgspec

DISABLED: Final = "disabled"


class Gap(msgspec.Struct, kw_only=True, omit_defaults=True, gc=False):
    """`from_ms` is the last contact, `to_ms` the list that ended the gap; `why`: expired, restart, too_large, limit, disabled.

    A kind that is disabled has a gap without `to_version` at the first start without it: nothing has ended that one. If it
    is wanted again, another from the same `from_ms` says what its list showed.
    """

    kind: str
    group: str = ""
    from_ms: int | None = None
    to_ms: int
    from_version: str | None = None
    to_version: str | None = None
    why: str
    changed: int = 0
    """Objects that the list showed changed, new or gone."""
