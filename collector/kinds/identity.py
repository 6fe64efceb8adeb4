"""Whose an object is: the links up from it, followed to the topmost object of a job kind.

A link leads to a uid (an owner) or to a name (the group that a pod names). Its target may be

- known: then its job is ours;
- of a kind that is not watched: then the link itself says all that will ever be known (a JobSet is the job);
- not seen, though its kind is watched: a group is then named by a placeholder at once, anything else is waited for.

Nothing is concluded from absence before the kind was listed. A target that comes later, or gets an owner of its own,
changes the job of everything below it; `affected` says of what.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from enum import Enum
from typing import Final, NamedTuple

from collector.kinds import references
from collector.kinds.base import TASK, Kind, Link
from collector.kinds.known import Known
from collector.kinds.lineage import Lineage
from pipeline.records.jobs import JobRef
from pipeline.records.kinds import RESOURCE_CLAIM

_REMEMBERED: Final = 16384
"""Objects that are gone and whose job is still known: what is said of them comes late."""

Names = dict[str, dict[str, Known]]
NameKey = tuple[str, str, str, str]


class Gone(NamedTuple):
    """What is still known of an object that was deleted."""

    key: NameKey
    version: str
    job: JobRef | None


class Listing(Enum):
    """What absence of an object of a kind proves."""

    PENDING = "pending"
    LISTED = "listed"
    ABSENT = "absent"
    """Not watched, not served or refused: nothing."""


LISTED: Final = Listing.LISTED
ABSENT: Final = Listing.ABSENT


class Identity:
    """All known objects, and the links between them."""

    def __init__(self, kinds: tuple[Kind, ...]) -> None:
        self.objects: dict[str, Known] = {}
        self.listing: dict[tuple[str, str], Listing] = {}
        self._names: dict[tuple[str, str], Names] = {}
        for kind in kinds:
            self.listing[kind.group, kind.kind] = Listing.PENDING
            self._names[kind.group, kind.kind] = {}
        self._lineages: dict[tuple[Link, ...], Lineage] = {}
        self._below: dict[str | NameKey, list[Lineage]] = {}
        self._gone: OrderedDict[str, Gone] = OrderedDict()
        self._gone_names: dict[NameKey, str] = {}

    # what exists

    def add(self, known: Known) -> None:
        self.objects[known.uid] = known
        self._names[known.kind.group, known.kind.kind].setdefault(known.namespace, {})[known.name] = known

    def has(self, known: Known) -> bool:
        """Whether it is still there."""
        return self.objects.get(known.uid) is known

    def remove(self, known: Known) -> None:
        """It is gone; for a while it is still known whose it was."""
        self.unlink(known)
        del self.objects[known.uid]
        names = self._names[known.kind.group, known.kind.kind]
        of_namespace = names.get(known.namespace, {})
        if of_namespace.get(known.name) is known:
            del of_namespace[known.name]
            if not of_namespace:
                del names[known.namespace]
        self._remember(known)

    def _remember(self, known: Known) -> None:
        key = (known.kind.group, known.kind.kind, known.namespace, known.name)
        self._gone[known.uid] = Gone(key, known.version, known.job)
        self._gone_names[key] = known.uid
        if len(self._gone) > _REMEMBERED:
            uid, oldest = self._gone.popitem(last=False)
            if self._gone_names.get(oldest.key) == uid:
                del self._gone_names[oldest.key]

    def gone(self, uid: str) -> Gone | None:
        """An object that was deleted not long ago."""
        return self._gone.get(uid)

    def gone_named(self, group: str, kind: str, namespace: str, name: str) -> Gone | None:
        """The last object of that name, if it was deleted not long ago."""
        return self._gone.get(self._gone_names.get((group, kind, namespace, name), ""))

    def named(self, group: str, kind: str, namespace: str, name: str) -> Known | None:
        """The newest object of that name."""
        return self._names.get((group, kind), {}).get(namespace, {}).get(name)

    # what leads where

    def claim_exists(self, namespace: str, name: str) -> bool:
        """Whether a claim for devices is there, or nothing is known of claims."""
        return (
            self.listing.get(RESOURCE_CLAIM) is not LISTED or self.named(*RESOURCE_CLAIM, namespace, name) is not None
        )

    def link(self, known: Known, links: tuple[Link, ...]) -> Lineage | None:
        """Puts an object under its links; None if nothing leads up from it."""
        old = known.lineage
        if old is not None and old.links == links:
            return old
        self.unlink(known)
        if not links:
            return None
        lineage = self._lineages.get(links)
        if lineage is None:
            lineage = self._lineages[links] = Lineage(links)
            for each in links:
                self._below.setdefault(_target(each), []).append(lineage)
        lineage.members[known.uid] = None
        known.lineage = lineage
        return lineage

    def unlink(self, known: Known) -> None:
        lineage, known.lineage = known.lineage, None
        if lineage is None:
            return
        lineage.members.pop(known.uid, None)
        self.prune(lineage)

    def prune(self, lineage: Lineage) -> None:
        """Forgets links that nothing has any more."""
        if lineage.members or lineage.held or lineage.links not in self._lineages:
            return
        self._lineages.pop(lineage.links, None)
        for each in lineage.links:
            below = self._below[_target(each)]
            below.remove(lineage)
            if not below:
                del self._below[_target(each)]

    def below(self, known: Known) -> Sequence[Lineage]:
        """Lineages that lead to this object, by its uid or, if it is the newest of its name, by that."""
        found = self._below.get(known.uid, ())
        kind = known.kind
        if kind.role is not TASK:  # nothing names a pod
            by_name = self._below.get((kind.group, kind.kind, known.namespace, known.name))
            if by_name and self.named(kind.group, kind.kind, known.namespace, known.name) is known:
                found = (*found, *by_name)
        return tuple(found)

    def resolve(self, lineage: Lineage, *, force: bool = False) -> bool:
        """Follows the links; False while something must be waited for. `force`: it was waited for long enough."""
        firm = True
        for link in lineage.links:
            way = self._follow(link, lineage, force)
            if way is None:
                return False
            job, sure = way
            firm = firm and sure
            if job is not None:
                lineage.job, lineage.firm, lineage.resolved = job, firm, True
                return True
        lineage.job, lineage.firm, lineage.resolved = None, firm, True
        return True

    def _follow(self, link: Link, lineage: Lineage, force: bool) -> tuple[JobRef | None, bool] | None:
        """(job, whether that is sure to stay), or None: wait."""
        target = self.objects.get(link.uid) if link.uid else self.named(*_name(link))
        if target is not None:
            if target.keyed:
                job = references.job_named(link, target.uid) if target.job is None and link.at_once else target.job
                return job, target.firm
            circle = self._circle(target, lineage)
            if circle is not None:
                return references.job_of(circle), True
            return (references.job_of(link), False) if force else None
        if link.uid in self._gone:
            return self._gone[link.uid].job, True
        listing = self.listing.get((link.group, link.kind), ABSENT)
        if listing is ABSENT:
            return references.job_of(link), bool(link.uid)
        if listing is LISTED and (link.at_once or force):
            return references.job_of(link), False
        return None

    def group_unseen(self, links: tuple[Link, ...]) -> bool:
        """Whether a link is a mere name of a kind that is not listed: nothing can be said of its target's absence."""
        for link in links:  # noqa: SIM110 (of every record; a generator would take thrice as long)
            if link.at_once and self.listing.get((link.group, link.kind), ABSENT) is ABSENT:
                return True
        return False

    def _circle(self, target: Known, lineage: Lineage) -> Link | None:
        """The link by which a target leads back to one of us: a group that a lone pod names and owns."""
        if target.lineage is None:
            return None
        return next((each for each in target.lineage.links if each.uid and each.uid in lineage.members), None)


def _target(link: Link) -> str | NameKey:
    return link.uid or _name(link)


def _name(link: Link) -> NameKey:
    return link.group, link.kind, link.namespace, link.name
