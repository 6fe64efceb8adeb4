"""The body of `object.v1`: what changed about one Kubernetes object, whose job it is, and facts its job cannot know."""

from __future__ import annotations

from typing import Literal

import msgspec

from pipeline.records.jobs import JobRef

Change = Literal["added", "modified", "deleted", "moved", "facts"]


class NodesWanted(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The nodes that match a pending pod's selector, required affinity and node name, each by its hardest obstacle.

    total = open + not_ready + unschedulable + tainted (rule P1).
    """

    total: int = 0
    open: int = 0
    not_ready: int = 0
    unschedulable: int = 0
    tainted: int = 0


class QueueFacts(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The queue that a group, job or lone pod names. `exists` is None until queues were listed."""

    name: str
    exists: bool | None = None
    state: str | None = None
    capability: dict[str, str] | None = None
    waiting_time: str | None = None
    """The queue's own promise: the text of the first readable SLA annotation on it."""


class Facts(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What only the collector, which sees the whole cluster, can say about a waiting object."""

    nodes_wanted: NodesWanted | None = None
    queue: QueueFacts | None = None
    tenant: str | None = None
    claim_missing: bool = False
    """A device claim that a pending pod names does not exist: kube-scheduler neither tries such a pod nor says so."""


class ObjectChange(msgspec.Struct, kw_only=True, omit_defaults=True, gc=False):
    """One change. `object` is the projected object as JSON (`pipeline.records.shapes`); UNSET for moved and facts.

    - added, modified, deleted: as the watch said, or as a list after a gap showed (`synthetic`, with `unseen_since`: the
      last contact before the change was seen, ms).
    - facts: the object is as before, the facts about it changed.
    - moved: this object belongs to `moved_to` from now on; sent to the bucket of the job it leaves, `job`.
    """

    change: Change
    kind: str
    name: str
    uid: str
    version: str
    group: str = ""
    api_version: str = ""
    namespace: str = ""
    job: JobRef | None = None
    moved_to: JobRef | None = None
    facts: Facts | None = None
    object: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    start_observed: bool = True
    """False: first sight was not its creation, so what came before is not known."""
    synthetic: bool = False
    unseen_since: int | None = None
    first_seen: int | None = None
    """When the object was first received, ms: of an object that comes to this job in a later state of it."""
    redacted: tuple[str, ...] = ()
    """Paths dropped by policy, for example `spec.containers[0].env[0].value`."""
    truncated: bool = False
    lossy: bool = False
    """Bytes that are not UTF-8 were replaced."""
    group_unseen: bool = False
    """Groups of the kind that this pod names are not listed (not served, or refused): whether its group exists is not known."""
    surrogate: bool = False
    """The object has no uid; `uid` was made from namespace, name and creation time."""
