"""Label and annotation keys by which schedulers, queues and people say what concerns the waiting of jobs.

The keys of promises are in `sla`, those of taints in `matching`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Texts = Mapping[str, str] | None
"""Labels or annotations as objects carry them."""

VOLCANO_GROUP: Final = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
"""Annotations of a pod: its Volcano PodGroup. The first that is set counts."""
VOLCANO_QUEUE: Final = ("scheduling.volcano.sh/queue-name", "volcano.sh/queue-name")
"""Annotations: the Volcano queue of a pod or a job. The first that is set counts."""
VOLCANO_DEFAULT_QUEUE: Final = "default"
"""No key: the queue of a group or a job that names none."""
VOLCANO_JOB: Final = "volcano.sh/job-name"
"""Label and annotation of a pod: its Volcano Job."""
VOLCANO_ROLE: Final = "volcano.sh/task-spec"
"""Annotation, else label, of a pod: which of its job's tasks it is."""
VOLCANO_PRIORITY: Final = "volcano.sh/task-priority"
"""Annotation of a pod: a priority among the tasks of its job, in place of its own."""
VOLCANO_PREEMPTABLE: Final = "volcano.sh/preemptable"
"""Annotation, else label, of a pod: whether it may be evicted for others."""
KUEUE_QUEUE: Final = "kueue.x-k8s.io/queue-name"
"""Label of a job or a pod: its LocalQueue. An annotation in Kueue's early versions."""
KUEUE_POD_GROUP: Final = "kueue.x-k8s.io/pod-group-name"
"""Label: pods of one group, which has a Workload of that name."""
TENANT: Final = "kube-collector.io/tenant"
"""Label of a namespace: whom it belongs to. The setting `tenant_label` names another."""
OWNER: Final = "kube-collector.io/owner"
"""Annotation of a job: who submitted it, for people."""


def volcano_group(notes: Texts) -> str:
    """The Volcano PodGroup that a pod's annotations name; empty if they name none."""
    return _first(notes, VOLCANO_GROUP)


def volcano_queue(notes: Texts) -> str:
    """The Volcano queue that annotations name; empty if they name none."""
    return _first(notes, VOLCANO_QUEUE)


def kueue_queue(labels: Texts, notes: Texts) -> str:
    """The LocalQueue that an object names; empty if it names none."""
    return (labels or {}).get(KUEUE_QUEUE) or (notes or {}).get(KUEUE_QUEUE) or ""


def _first(texts: Texts, keys: tuple[str, ...]) -> str:
    if texts:
        for key in keys:
            if text := texts.get(key):
                return text
    return ""
