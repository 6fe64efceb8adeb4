"""Every record of the log: CloudEvents 1.0 in structured mode, so that other consumers can read it too.

Three times, never mixed: `time` is what the object itself says, `observedms` is when the frame was received (in a
replay: when it had been received), and the log's stamp, which is not written here, is the largest `observedms` written
so far. `partitionkey` is the bucket as decimal text.
"""

from __future__ import annotations

import msgspec

from pipeline.records import decisions, events, figures, gaps, objects

TYPE_PREFIX = "io.kubecollector."


class Envelope(msgspec.Struct, kw_only=True, omit_defaults=True, gc=False):
    """What every record carries. `id` is its identity: two records with one id are copies."""

    id: str
    source: str
    cluster: str
    partitionkey: str
    observedms: int
    specversion: str = "1.0"
    subject: str = ""
    time: str | None = None
    datacontenttype: str = "application/json"

    @property
    def bucket(self) -> int:
        return int(self.partitionkey)


class ObjectRecord(
    Envelope, tag_field="type", tag=TYPE_PREFIX + "object.v1", kw_only=True, omit_defaults=True, gc=False
):
    """An object changed. id = cluster/uid/resourceVersion/change/job key/hash of facts."""

    data: objects.ObjectChange


class EventRecord(Envelope, tag_field="type", tag=TYPE_PREFIX + "event.v1", kw_only=True, omit_defaults=True, gc=False):
    """A Kubernetes Event was seen, new or with a higher count. id = cluster/uid/resourceVersion."""

    data: events.EventSeen


class DecisionRecord(
    Envelope, tag_field="type", tag=TYPE_PREFIX + "decision.v1", kw_only=True, omit_defaults=True, gc=False
):
    """A scheduler said what it decided and why. id = cluster/source/policy/log second/job/task/kind."""

    data: decisions.Decision


class FiguresRecord(
    Envelope, tag_field="type", tag=TYPE_PREFIX + "figures.v1", kw_only=True, omit_defaults=True, gc=False
):
    """Figures of queues and nodes from a minute on. id = cluster/minute/figures/number of the part."""

    data: figures.Figures


class GapRecord(Envelope, tag_field="type", tag=TYPE_PREFIX + "gap.v1", kw_only=True, omit_defaults=True, gc=False):
    """Changes of a kind may be missing. id = cluster/kind/from/to."""

    data: gaps.Gap


class TickRecord(Envelope, tag_field="type", tag=TYPE_PREFIX + "tick.v1", kw_only=True, omit_defaults=True, gc=False):
    """Log time passed `observedms`; its reader hands it to all buckets (`partitionkey` is "*")."""


Record = ObjectRecord | EventRecord | DecisionRecord | FiguresRecord | GapRecord | TickRecord
