"""Records that fill tables as they are, without judgement: event, object_change, decision, figures, progress. Pure.

The key of a raw row is the record's own identity and its version is `observedms`, so a record that comes twice, from a
restart or a second collector, is one row. A tick is the collector's progress; gaps fill no table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from pipeline.records import events, objects, tables
from pipeline.records.envelope import DecisionRecord, EventRecord, FiguresRecord, ObjectRecord, Record, TickRecord
from pipeline.records.rows import Row
from pipeline.records.shapes.base import Condition, Part

_NOBODY = events.Regarding()


class _Spec(Part):
    node_name: str | None = None
    unschedulable: bool | None = None


class _Status(Part):
    phase: str | None = None
    state: msgspec.Raw | None = None
    conditions: list[Condition] | None = None


class _Seen(Part):
    """What a summary takes of an object of any kind; everything else is skipped unread."""

    spec: _Spec | None = None
    status: _Status | None = None


class Summary(msgspec.Struct, omit_defaults=True, gc=False):
    """Column `summary` of object_change, as JSON."""

    phase: str | None = None
    state: msgspec.Raw | None = None
    node: str | None = None
    unschedulable: bool | None = None
    conditions: list[Condition] | None = None
    facts: objects.Facts | None = None
    moved_to: str | None = None


_decoder = msgspec.json.Decoder(_Seen)
_encoder = msgspec.json.Encoder()
_NOTHING = _Seen()


def of(record: Record) -> Row | None:
    """The row of a record; None for one that fills no table, or that has many rows."""
    make = _MAKERS.get(type(record))
    return None if make is None else make(record)


def all_of(record: Record) -> Sequence[Row]:
    """Every row of a record; none for one that fills no table."""
    if isinstance(record, FiguresRecord):
        return [*_queues(record), *_nodes(record)]
    row = of(record)
    return () if row is None else (row,)


def _event(record: EventRecord) -> Row:
    seen = record.data
    about = seen.regarding or _NOBODY
    return Row(
        tables.EVENT.name,
        record.observedms,
        {
            "day": record.observedms,
            "cluster": record.cluster,
            "uid": seen.uid,
            "object_version": seen.version,
            "namespace": seen.namespace,
            "regarding_kind": about.kind,
            "regarding_namespace": about.namespace,
            "regarding_name": about.name,
            "regarding_uid": about.uid,
            "job_uid": seen.job.uid if seen.job else None,
            "type": seen.type,
            "reason": seen.reason,
            "message": seen.message,
            "component": seen.component,
            "count": seen.count,
            "first_us": seen.first_us,
            "last_us": seen.last_us,
            "observed_at": record.observedms,
        },
    )


def _object_change(record: ObjectRecord) -> Row:
    change = record.data
    return Row(
        tables.OBJECT_CHANGE.name,
        record.observedms,
        {
            "day": record.observedms,
            "cluster": record.cluster,
            "uid": change.uid,
            "object_version": change.version,
            "change": change.change,
            "kind": change.kind,
            "api_group": change.group,
            "namespace": change.namespace,
            "name": change.name,
            "job_uid": change.job.uid if change.job else None,
            "summary": _summary(change),
            "synthetic": change.synthetic,
            "observed_at": record.observedms,
        },
    )


def _decision(record: DecisionRecord) -> Row:
    """The day is that of the session, which a repeated decision shares; not that of the record, which it may not."""
    decision = record.data
    job = decision.job
    return Row(
        tables.DECISION.name,
        record.observedms,
        {
            "day": decision.session_ms,
            "cluster": record.cluster,
            "id": record.id,
            "source": decision.source,
            "policy": decision.policy,
            "session_at": decision.session_ms,
            "kind": decision.kind,
            "namespace": job.namespace if job else None,
            "job_kind": job.kind if job else None,
            "job_name": job.name if job else None,
            "job_uid": job.uid if job else None,
            "task": decision.task,
            "node": decision.node,
            "reason": decision.reason,
            "detail": decision.detail,
            "resource": decision.resource,
            "failure_sets": _json(decision.failure_sets) if decision.failure_sets else None,
            "helps": _json(decision.helps) if decision.helps else None,
            "nodes": decision.nodes,
            "total_nodes": decision.total_nodes,
            "message": decision.message or None,
        },
    )


def _tick(record: TickRecord) -> Row:
    """How far the collector has come; who loads it says when."""
    values = {"cluster": record.cluster, "stage": "collector", "log_at": record.observedms, "loaded_at": None}
    return Row(tables.PROGRESS.name, record.observedms, values)


def _queues(record: FiguresRecord) -> Iterator[Row]:
    for each in record.data.queues:
        yield _figures(record, tables.QUEUE_MINUTE.name, {
            "queue": each.queue, "resource": each.resource, "tenant": each.tenant, "quota": each.quota, "ceiling": each.limit,
            "used": each.used, "requested": each.requested, "waiting": each.waiting,
        })  # fmt: skip


def _nodes(record: FiguresRecord) -> Iterator[Row]:
    for each in record.data.nodes:
        yield _figures(record, tables.NODE_MINUTE.name, msgspec.structs.asdict(each))


def _figures(record: FiguresRecord, table: str, values: dict[str, Any]) -> Row:
    minute_ms = record.data.minute_ms
    key = {"day": minute_ms, "cluster": record.cluster, "minute": minute_ms}
    return Row(table, record.observedms, key | values)


_MAKERS: dict[type, Callable[[Any], Row]] = {
    EventRecord: _event,
    ObjectRecord: _object_change,
    DecisionRecord: _decision,
    TickRecord: _tick,
}


def _summary(change: objects.ObjectChange) -> str:
    seen = _seen(change.object)
    spec, status = seen.spec or _Spec(), seen.status or _Status()
    moved = str(change.moved_to) if change.moved_to else None
    return _json(
        Summary(status.phase, status.state, spec.node_name, spec.unschedulable, status.conditions, change.facts, moved)
    )


def _seen(body: msgspec.Raw | msgspec.UnsetType) -> _Seen:
    """The parts of an object that a summary takes; none of one whose fields have types the API does not give them."""
    if body is msgspec.UNSET:
        return _NOTHING
    try:
        return _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _NOTHING


def _json(value: object) -> str:
    return _encoder.encode(value).decode()
