"""The closed list of reasons a job waits for, and the details each may carry.

A reason is (code, detail, resource). Codes and details are part of the public tables and never change their meaning;
rules of `docs/explanation/attribution.md` decide which one leads.
"""

from __future__ import annotations

from typing import Final

NOT_ADMITTED: Final = "not_admitted"
QUOTA: Final = "quota"
QUEUE_LIMIT: Final = "queue_limit"
OUTRANKED: Final = "outranked"
GANG_INCOMPLETE: Final = "gang_incomplete"
PODS_NOT_CREATED: Final = "pods_not_created"
INSUFFICIENT_RESOURCE: Final = "insufficient_resource"
FRAGMENTATION: Final = "fragmentation"
NODE_AFFINITY: Final = "node_affinity"
UNTOLERATED_TAINT: Final = "untolerated_taint"
NODE_UNSCHEDULABLE: Final = "node_unschedulable"
NODE_NOT_READY: Final = "node_not_ready"
POD_AFFINITY: Final = "pod_affinity"
POD_ANTI_AFFINITY: Final = "pod_anti_affinity"
TOPOLOGY_SPREAD: Final = "topology_spread"
TOPOLOGY: Final = "topology"
VOLUME: Final = "volume"
PORT_CONFLICT: Final = "port_conflict"
DRA: Final = "dra"
WAITING_VICTIMS: Final = "waiting_victims"
PREEMPTION_NO_VICTIM: Final = "preemption_no_victim"
SCHEDULER_BACKLOG: Final = "scheduler_backlog"
BINDING: Final = "binding"
UNKNOWN: Final = "unknown"
GAP: Final = "gap"

DETAILS: Final[dict[str, tuple[str, ...]]] = {
    NOT_ADMITTED: (
        "gated", "suspended", "dependency", "queue_missing", "queue_closed", "quota_check", "admission_check",
    ),
    QUOTA: ("queue_refused", "cluster_enqueue_limit"),
    QUEUE_LIMIT: ("never_fits",),
    OUTRANKED: (),
    GANG_INCOMPLETE: ("group_missing", "members_missing"),
    PODS_NOT_CREATED: ("controller", "back_off", "terminating_predecessor", "create_failed"),
    INSUFFICIENT_RESOURCE: ("never_fits",),
    FRAGMENTATION: (),
    NODE_AFFINITY: (),
    UNTOLERATED_TAINT: (),
    NODE_UNSCHEDULABLE: (),
    NODE_NOT_READY: (),
    POD_AFFINITY: (),
    POD_ANTI_AFFINITY: (),
    TOPOLOGY_SPREAD: (),
    TOPOLOGY: (),
    VOLUME: (),
    PORT_CONFLICT: (),
    DRA: (),
    WAITING_VICTIMS: (),
    PREEMPTION_NO_VICTIM: (),
    SCHEDULER_BACKLOG: ("not_tried", "not_enqueued"),
    BINDING: (),
    UNKNOWN: (),
    GAP: (),
}  # fmt: skip
"""Every code with the details it may carry, besides none; in the order in which charts stack them."""

CODES: Final = tuple(DETAILS)
