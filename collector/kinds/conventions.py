"""What enters the project of annotations: only the values of keys in `KEPT`, and of those that the configuration adds.

Keys that some stage reads have their names in `pipeline.records.keys`; the others are kept for people. Labels are kept
whole: selectors read them.
"""

from __future__ import annotations

from typing import Final

from pipeline.records import keys, sla

KEPT: Final = frozenset(
    {
        *sla.KEYS, *keys.VOLCANO_GROUP, *keys.VOLCANO_QUEUE, keys.VOLCANO_JOB, keys.VOLCANO_ROLE, keys.VOLCANO_PRIORITY,
        keys.VOLCANO_PREEMPTABLE, keys.KUEUE_QUEUE, keys.OWNER,
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
        "volcano.sh/revocable-zone",
        "volcano.sh/task-index",
    }
)  # fmt: skip
