"""Why something was refused: one shape for all who refuse (votes, quotas, gangs, nodes)."""

from __future__ import annotations

import msgspec


class Why(msgspec.Struct, frozen=True, gc=False):
    """A refusal: a reason of `pipeline.records.reasons` with its detail and resource, and the words of the refuser.

    `asked`, `used` and `limit` are amounts of `resource` in its whole unit (cores, bytes, devices) where one resource
    was short. `plugin` is who refused.
    """

    reason: str
    detail: str = ""
    resource: str = ""
    message: str = ""
    plugin: str = ""
    asked: float | None = None
    used: float | None = None
    limit: float | None = None


class Misconfigured(msgspec.Struct, frozen=True, gc=False):
    """Input that cannot be meant as it stands: kind and name of the object, what is wrong with it, what was done."""

    kind: str
    name: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}: {self.what}"
