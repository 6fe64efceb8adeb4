"""Which kinds are jobs. An owner of such a kind is the job of what it owns even if its kind is not watched."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from collector.kinds.base import Link
from pipeline.records import kinds
from pipeline.records.jobs import JobRef, placeholder_uid

JOB_KINDS: Final = (
    str(kinds.POD),
    str(kinds.BATCH_JOB),
    str(kinds.VOLCANO_JOB),
    str(kinds.NATIVE_GROUP),
    str(kinds.VOLCANO_GROUP),
    str(kinds.KUEUE_WORKLOAD),
    "jobset.x-k8s.io/JobSet",
    "kubeflow.org/*Job",
    "trainer.kubeflow.org/TrainJob",
    "ray.io/Ray*",
    "sparkoperator.k8s.io/SparkApplication",
    "workload.codeflare.dev/AppWrapper",
)
"""Patterns of GROUP/KIND. Kinds that only make jobs (CronJob) or keep pods alive (Deployment) are none."""


@lru_cache(maxsize=1024)
def is_job_kind(group: str, kind: str) -> bool:
    """Whether people wait for objects of this kind."""
    name = f"{group}/{kind}"
    return any(fnmatchcase(name, pattern) for pattern in JOB_KINDS)


def job_of(link: Link) -> JobRef | None:
    """The job that a link names without its object having been seen; None if its kind is no job kind."""
    if not link.at_once and not is_job_kind(link.group, link.kind):
        return None
    return job_named(link, link.uid or placeholder_uid(link.namespace, link.name))


def job_named(link: Link, uid: str) -> JobRef:
    """The target of a link as a job."""
    return JobRef(link.kind, link.namespace, link.name, uid, link.group)
