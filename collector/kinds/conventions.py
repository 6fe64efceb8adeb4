"""Annotation and label keys by which schedulers, queues and people say what concerns the waiting of jobs.

Of annotations only the values of keys in `KEPT` enter the project; the configuration adds keys of its own. Labels are
kept whole: selectors read them.
"""

from __future__ import annotations

from typing import Final

from pipeline.records import sla

VOLCANO_GROUP_NAMES: Final = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
"""On a pod: its Volcano PodGroup."""
VOLCANO_QUEUE_NAMES: Final = ("scheduling.volcano.sh/queue-name", "volcano.sh/queue-name")
VOLCANO_DEFAULT_QUEUE: Final = "default"
"""Of what names no queue."""
VOLCANO_JOB_NAME: Final = "volcano.sh/job-name"
KUEUE_QUEUE_NAME: Final = "kueue.x-k8s.io/queue-name"
"""Label on jobs and pods; an annotation in Kueue's early versions."""
KUEUE_POD_GROUP: Final = "kueue.x-k8s.io/pod-group-name"
"""Label: pods of one group, which has a Workload of that name."""
TENANT_LABEL: Final = "kube-collector.io/tenant"
OWNER: Final = "kube-collector.io/owner"
"""Who submitted a job, for people."""

KEPT: Final = frozenset(
    {
        *sla.KEYS, *VOLCANO_GROUP_NAMES, *VOLCANO_QUEUE_NAMES, VOLCANO_JOB_NAME, KUEUE_QUEUE_NAME, OWNER,
        "batch.kubernetes.io/job-completion-index",
        "kueue.x-k8s.io/job-min-parallelism",
        "kueue.x-k8s.io/pod-group-total-count",
        "kueue.x-k8s.io/podset-preferred-topology",
        "kueue.x-k8s.io/podset-required-topology",
        "kueue.x-k8s.io/workload",
        "scheduling.volcano.sh/group-min-member",
        "volcano.sh/jdb-max-unavailable",
        "volcano.sh/jdb-min-available",
        "volcano.sh/job-namespace",
        "volcano.sh/job-retry-count",
        "volcano.sh/job-version",
        "volcano.sh/preemptable",
        "volcano.sh/revocable-zone",
        "volcano.sh/task-index",
        "volcano.sh/task-priority",
        "volcano.sh/task-spec",
    }
)  # fmt: skip


def queue_label(labels: dict[str, str] | None, notes: dict[str, str] | None) -> str | None:
    """The Kueue LocalQueue that an object names, if it names one."""
    return (labels or {}).get(KUEUE_QUEUE_NAME) or (notes or {}).get(KUEUE_QUEUE_NAME)


def volcano_queue(notes: dict[str, str] | None) -> str | None:
    """The Volcano queue that an object's annotations name, if they do."""
    for key in VOLCANO_QUEUE_NAMES:
        if notes and notes.get(key):
            return notes[key]
    return None
