"""Decisions as records of the log."""

from __future__ import annotations

from pipeline.records import jobs, times
from pipeline.records.decisions import Decision
from pipeline.records.envelope import DecisionRecord

SOURCE = "kube-collector/scheduler"


def of(decision: Decision, cluster: str) -> DecisionRecord:
    """The record of a decision: made at the log second of its session, in its job's bucket; `close` goes by its policy."""
    job, at_ms = decision.job, decision.session_ms
    namespace, name = ("", decision.policy) if job is None else (job.namespace, job.name)
    parts = (
        cluster,
        decision.source,
        decision.policy,
        at_ms,
        "" if job is None else job.uid,
        decision.task or "",
        decision.kind,
    )
    return DecisionRecord(
        id="/".join(map(str, parts)),
        source=SOURCE,
        cluster=cluster,
        partitionkey=str(jobs.bucket_of(cluster, namespace, name)),
        observedms=at_ms,
        subject=decision.policy if job is None else str(job),
        time=times.format_us(at_ms * 1000),
        data=decision,
    )
