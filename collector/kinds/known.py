"""What the collector remembers of each object: a few words, not the object.

`Known` is what is in memory; `KnownObject` is what is kept over a restart. The last state of an object stays in memory
only while a link may still come that gives it to another job (`last`), since it must then be sent again.
"""

from __future__ import annotations

import msgspec

from collector.kinds.base import Kind, Role
from collector.kinds.lineage import Lineage
from collector.kinds.projection import Sight
from pipeline.records.jobs import JobRef


class Known(msgspec.Struct, gc=False):
    """An object that exists as far as we know. `keyed`: it is decided whose it is, and records of it were written."""

    uid: str
    version: str
    kind: Kind
    namespace: str
    name: str
    job: JobRef | None = None
    lineage: Lineage | None = None
    keyed: bool = False
    bare: bool = False
    """Remembered from before a restart and not seen since."""
    waits: bool = False
    facts: str = ""
    """Tag of the facts that were sent last."""
    digest: bytes | None = None
    last: Sight | None = None

    @property
    def firm(self) -> bool:
        """Whether every link up to its job was followed to its end."""
        return self.lineage is None or self.lineage.firm

    def own_job(self) -> JobRef | None:
        """The job that it is itself; None for what cannot be one."""
        if self.kind.role is not Role.TASK and self.kind.role is not Role.JOB:
            return None
        return JobRef(self.kind.kind, self.namespace, self.name, self.uid, self.kind.group)


class KnownObject(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """An object as it is kept over a restart; `key` is that of its watch, `facts` the tag of the last facts sent."""

    key: str
    uid: str
    version: str
    namespace: str = ""
    name: str = ""
    job: JobRef | None = None
    digest: bytes | None = None
    facts: str = ""


class KnownChanges(msgspec.Struct):
    """What to write to the store of known objects: whole entries, and (key, uid) of those that are gone."""

    upserts: list[KnownObject]
    deletes: list[tuple[str, str]]
