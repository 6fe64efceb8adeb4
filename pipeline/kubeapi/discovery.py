"""Which resources the server serves, group by group, whatever becomes of single groups.

An aggregated API whose server is dead answers 503 for its group version: it is named in `Discovery.failed`, the rest is
used, and whoever needs that group asks again later.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec

from pipeline.errors import Terminal, Transient
from pipeline.kubeapi import resources
from pipeline.kubeapi.resources import Discovery, GroupVersion, Resource


def discover(get: Callable[[str], bytes], groups: Collection[str] | None = None) -> Discovery:
    """Asks `get` (path → body) for the group versions of `groups` (None = all; "" = the core group).

    Raises what `get` raises for `/api` and `/apis` themselves, and Transient when those cannot be decoded.
    """
    try:
        versions = resources.core_versions(get("/api")) + resources.group_versions(get("/apis"))
    except msgspec.MsgspecError as error:
        raise Transient(f"the list of API groups cannot be decoded: {error}") from error
    found: list[Resource] = []
    failed: dict[str, str] = {}
    for each in versions:
        if groups is None or each.group in groups:
            _add(get, each, found, failed)
    return Discovery(found, failed)


def _add(get: Callable[[str], bytes], asked: GroupVersion, found: list[Resource], failed: dict[str, str]) -> None:
    try:
        found.extend(resources.watchable(get(asked.path), asked))
    except (Transient, Terminal, msgspec.MsgspecError) as error:
        failed[str(asked)] = str(error)
