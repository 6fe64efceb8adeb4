"""Rows of judged waits for tests of what reads them: jobs, their waits and parts, as the loader would write them."""

from __future__ import annotations

import uuid
from typing import Any

from pipeline.doris.settings import Settings
from pipeline.doris.streamload import StreamLoad
from pipeline.records import rows, times
from pipeline.records.rows import Row
from sinks.batch import Batch

DAY_MS = 1_767_225_600_000
"""2026-01-01 00:00 UTC."""
MINUTE_MS = 60_000
GENERATION = 1 << rows.GENERATION_SHIFT


class Waiting:
    """Rows of one cluster, gathered and then loaded. `minute` arguments count from DAY_MS."""

    def __init__(self, cluster: str) -> None:
        self.cluster = cluster
        self.rows: list[Row] = []

    def now(self, minute: float, loaded_ms: int = DAY_MS, stage: str = "aggregation") -> None:
        """Log time of a stage."""
        values = {"cluster": self.cluster, "stage": stage, "log_at": _at(minute), "loaded_at": loaded_ms}
        self.rows.append(Row("progress", GENERATION + _at(minute) - DAY_MS, values))

    def job(
        self, name: str, *, namespace: str = "team-a", kind: str = "Job", uid: str = "", **more: Any
    ) -> dict[str, Any]:
        """The columns that all rows of a job share; give them to `wait` and `part`."""
        return {
            "day": times.day_ms(more.pop("created_ms", DAY_MS)), "cluster": self.cluster, "job_uid": uid or f"uid-{name}",
            "namespace": namespace, "job_kind": kind, "job_name": name, "tenant": "vision", "queue": "vision-a", **more,
        }  # fmt: skip

    def wait(
        self, job: dict[str, Any], start: float, end: float | None = None, *, episode: int = 1, **values: Any
    ) -> None:
        """One wait, from minute to minute; promised 30 minutes unless `promise_ms` says otherwise."""
        promise_ms = values.pop("promise_ms", 30 * MINUTE_MS)
        deadline_ms = None if promise_ms is None else _at(start) + promise_ms
        length_ms = None if end is None else _at(end) - _at(start)
        ended = {} if end is None else {"phase": "scheduled", "ended_at": _at(end), "scheduled_at": _at(end)}
        sla = "none" if promise_ms is None else "on_track"
        if promise_ms is not None and length_ms is not None:
            sla = "met" if length_ms < promise_ms else "met_late"
        made = {
            "episode": episode, "phase": "waiting", "sla": sla, "created_at": DAY_MS, "started_at": _at(start),
            "promise_ms": promise_ms, "deadline_at": deadline_ms, "promise_source": "job sla-waiting-time",
            "wait_ms": length_ms or 0, "as_of": _at(start if end is None else end), "partial": False, "tasks": 4,
            "minimum": 4, "gpus": 32, "cpus_milli": 4000, "memory_bytes": 1 << 34, "priority_class": "high",
            "estimated_ms": 0, "gap_ms": 0,
        }  # fmt: skip
        self.rows.append(Row("job_wait", GENERATION + len(self.rows), job | made | ended | values))

    def part(
        self,
        job: dict[str, Any],
        n: int,
        start: float,
        end: float | None,
        reason: str,
        *,
        episode: int = 1,
        **values: Any,
    ) -> None:
        """A part of a wait."""
        made = {
            "episode": episode, "n": n, "reason": reason, "from_at": _at(start), "to_at": None if end is None else _at(end),
            "ms": 0 if end is None else _at(end) - _at(start), "evidence": "condition", "estimated": False,
            "as_of": _at(start if end is None else end),
        }  # fmt: skip
        self.rows.append(Row("wait_segment", GENERATION + len(self.rows), job | made | values))

    def violation(self, job: dict[str, Any], minute: float, *, episode: int = 1, **values: Any) -> None:
        """A promise broken at that minute."""
        made = {
            "episode": episode, "promise_ms": 30 * MINUTE_MS, "deadline_at": _at(minute), "violated_at": _at(minute),
            "overrun_ms": 0, "reason": "quota", "fingerprint": "v1:0", "state": "open", "as_of": _at(minute),
        }  # fmt: skip
        self.rows.append(Row("sla_violation", GENERATION + len(self.rows), job | made | values))

    def hour(
        self, job: dict[str, Any], hour: int, reason: str, wait_ms: int, *, resource: str = "", gpus: int = 32
    ) -> None:
        """Waiting in an hour of the day."""
        made = {
            "episode": 1, "hour": DAY_MS + hour * times.HOUR_MS, "reason": reason, "resource": resource,
            "wait_ms": wait_ms, "gpu_ms": wait_ms * gpus,
        }  # fmt: skip
        self.rows.append(Row("wait_reason_hour", GENERATION + len(self.rows), job | made))

    def add(self, table: str, **values: Any) -> None:
        """Any other row."""
        self.rows.append(Row(table, GENERATION + len(self.rows), {"cluster": self.cluster, **values}))

    def load(self, settings: Settings) -> None:
        """Writes all rows through the product's own way."""
        batch = Batch()
        for row in self.rows:
            batch.add(row)
        with StreamLoad(settings) as client:
            for part in batch.loads():
                client.load(part.table, b"\n".join(part.lines), rows=len(part.lines), label=uuid.uuid4().hex)
        assert batch.bad == []
        self.rows = []


def _at(minute: float) -> int:
    return DAY_MS + round(minute * MINUTE_MS)
