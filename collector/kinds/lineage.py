"""The way up that brothers share: objects with the same links (the pods of one job) are resolved together."""

from __future__ import annotations

from typing import Any

from collector.kinds.base import Link
from pipeline.records.jobs import JobRef


class Lineage:
    """Objects with equal links. `resolved`: it is known where the links lead; `job` None: to no job above them."""

    __slots__ = ("firm", "held", "job", "links", "members", "resolved", "since_ms")

    def __init__(self, links: tuple[Link, ...]) -> None:
        self.links = links
        self.members: dict[str, None] = {}
        """Uids, in order of arrival."""
        self.job: JobRef | None = None
        self.resolved = False
        self.firm = False
        self.held: list[Any] = []
        """What was seen of members, and said about them, while it was not known whose they are; in order."""
        self.since_ms = 0
        """When the first of it was received."""
