"""What can be set about the scheduler."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pipeline.config import fields


class Settings(fields.Section):
    """The shadow scheduler: sessions over the mirrored cluster that say exactly why jobs wait, and change nothing."""

    enabled: bool = True
    """Whether `up` runs it. Without it reasons come from conditions, events and counting alone."""
    policy: Annotated[Path | None, fields.LIVE] = None
    """Policy of the pods that Volcano schedules, a `volcano-scheduler.conf` or its ConfigMap; Volcano's own without it."""
    volcano_schedulers: tuple[str, ...] = ("volcano",)
    """Names of schedulers (`schedulerName` of pods) whose pods this policy decides about."""
    figures: bool = True
    """Whether it writes what queues use and nodes have free, by the minute: tables `queue_minute` and `node_minute`."""
    pool_labels: tuple[str, ...] = (
        "cloud.google.com/gke-nodepool",
        "eks.amazonaws.com/nodegroup",
        "kubernetes.azure.com/agentpool",
        "karpenter.sh/nodepool",
        "node.kubernetes.io/pool",
        "pool",
    )
    """Labels that name a node's pool in these figures; the first that a node has counts."""
