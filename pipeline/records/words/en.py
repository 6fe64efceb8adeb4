"""English."""

from __future__ import annotations

FALLBACKS = {"resource": "of a resource", "queue": "its queue"}

TITLES = {
    "not_admitted": "Not admitted yet",
    "quota": "Quota in use",
    "queue_limit": "Over the queue's limit",
    "outranked": "Others go first",
    "gang_incomplete": "Gang incomplete",
    "pods_not_created": "Pods not created",
    "insufficient_resource": "Not enough resources",
    "fragmentation": "Fragmented capacity",
    "node_affinity": "No node matches",
    "untolerated_taint": "Taint not tolerated",
    "node_unschedulable": "Nodes cordoned",
    "node_not_ready": "Nodes not ready",
    "pod_affinity": "Pod affinity",
    "pod_anti_affinity": "Pod anti-affinity",
    "topology_spread": "Topology spread",
    "topology": "Topology",
    "volume": "Volume",
    "port_conflict": "Port taken",
    "dra": "Device claim",
    "waiting_victims": "Waiting for victims to leave",
    "preemption_no_victim": "Nobody to preempt",
    "scheduler_backlog": "Scheduler has not tried",
    "binding": "Binding",
    "unknown": "Unknown",
    "gap": "Nobody was looking",
}

PHASES = {
    "waiting": "Waiting",
    "scheduled": "Placed",
    "cancelled": "Cancelled",
}

STANDINGS = {
    "none": "no promise",
    "on_track": "on track",
    "at_risk": "at risk",
    "violated": "broken",
    "met": "kept",
    "met_late": "was broken",
    "cancelled": "cancelled",
}

DETAILS = {
    "gated": "scheduling gate",
    "suspended": "suspended",
    "dependency": "waits for another job",
    "queue_missing": "queue missing",
    "queue_closed": "queue closed",
    "quota_check": "quota not checked yet",
    "admission_check": "admission check",
    "queue_refused": "queue takes no more",
    "cluster_enqueue_limit": "limit of waiting jobs",
    "never_fits": "can never fit",
    "group_missing": "pod group missing",
    "members_missing": "members missing",
    "controller": "controller",
    "back_off": "back-off",
    "terminating_predecessor": "earlier pods still ending",
    "create_failed": "creation fails",
    "not_tried": "not tried yet",
    "not_enqueued": "not let in yet",
}

DETAILS_PAST = {
    "queue_limit/never_fits": "did not fit its limit then",
    "insufficient_resource/never_fits": "did not fit any node then",
}
"""Details that say more than what was: of a part that is over they are told otherwise."""

BECAUSE = {
    "not_admitted": "it is not admitted yet",
    "not_admitted/gated": "a scheduling gate holds its pods",
    "not_admitted/suspended": "it is suspended",
    "not_admitted/dependency": "it waits for another job",
    "not_admitted/queue_missing": "queue {queue} does not exist",
    "not_admitted/queue_closed": "queue {queue} is closed",
    "not_admitted/quota_check": "its quota has not been looked at yet",
    "not_admitted/admission_check": "an admission check has not passed",
    "quota": "others use the quota of {queue} ({resource})",
    "quota/queue_refused": "{queue} takes no more: others use its share",
    "quota/cluster_enqueue_limit": "the cluster's limit of {resource} for waiting jobs is in use",
    "queue_limit": "it asks for more {resource} than {queue} may hold now",
    "queue_limit/never_fits": "it asks for more {resource} than {queue} can ever give",
    "outranked": "jobs of higher rank go first",
    "gang_incomplete": "its gang is incomplete",
    "gang_incomplete/group_missing": "the pod group that its pods name does not exist",
    "gang_incomplete/members_missing": "fewer pods exist than its gang needs",
    "pods_not_created": "its pods have not been created",
    "pods_not_created/controller": "its controller has not created its pods",
    "pods_not_created/back_off": "its controller waits before it creates pods again",
    "pods_not_created/terminating_predecessor": "its earlier pods are still ending",
    "pods_not_created/create_failed": "creating its pods fails",
    "insufficient_resource": "no node has enough {resource} free",
    "insufficient_resource/never_fits": "no node could hold it even when empty ({resource})",
    "fragmentation": "enough {resource} is free, but spread over too many nodes",
    "node_affinity": "no node matches its selector or affinity",
    "untolerated_taint": "it does not tolerate the taints of the nodes it wants",
    "node_unschedulable": "the nodes it wants are cordoned",
    "node_not_ready": "the nodes it wants are not ready",
    "pod_affinity": "no node lies beside the pods it must be near",
    "pod_anti_affinity": "every node lies beside pods it must be away from",
    "topology_spread": "its spread over zones or nodes allows no node",
    "topology": "no part of the network is large enough",
    "volume": "a volume or its claim is not ready",
    "port_conflict": "its host port is taken on every node",
    "dra": "a device that it claims cannot be allocated",
    "waiting_victims": "the pods it preempted are still leaving",
    "preemption_no_victim": "preempting others would not make room",
    "scheduler_backlog": "the scheduler has not tried it yet",
    "scheduler_backlog/not_tried": "the scheduler has not tried it yet",
    "scheduler_backlog/not_enqueued": "the scheduler has not let it into the queue yet",
    "binding": "it is being bound to its nodes",
    "unknown": "its scheduler says something that is not understood",
    "gap": "nobody was looking at the cluster",
}

BECAUSE_PAST = {
    "not_admitted": "it was not admitted",
    "not_admitted/gated": "a scheduling gate held its pods",
    "not_admitted/suspended": "it was suspended",
    "not_admitted/dependency": "it waited for another job",
    "not_admitted/queue_missing": "queue {queue} did not exist",
    "not_admitted/queue_closed": "queue {queue} was closed",
    "not_admitted/quota_check": "its quota had not been looked at yet",
    "not_admitted/admission_check": "an admission check had not passed",
    "quota": "others used the quota of {queue} ({resource})",
    "quota/queue_refused": "{queue} took no more: others used its share",
    "quota/cluster_enqueue_limit": "the cluster's limit of {resource} for waiting jobs was in use",
    "queue_limit": "it asked for more {resource} than {queue} could hold then",
    "queue_limit/never_fits": "it asked for more {resource} than {queue} could ever give",
    "outranked": "jobs of higher rank went first",
    "gang_incomplete": "its gang was incomplete",
    "gang_incomplete/group_missing": "the pod group that its pods named did not exist",
    "gang_incomplete/members_missing": "fewer pods existed than its gang needed",
    "pods_not_created": "its pods had not been created",
    "pods_not_created/controller": "its controller had not created its pods",
    "pods_not_created/back_off": "its controller waited before it created pods again",
    "pods_not_created/terminating_predecessor": "its earlier pods were still ending",
    "pods_not_created/create_failed": "creating its pods failed",
    "insufficient_resource": "no node had enough {resource} free",
    "insufficient_resource/never_fits": "no node could have held it even when empty ({resource})",
    "fragmentation": "enough {resource} was free, but spread over too many nodes",
    "node_affinity": "no node matched its selector or affinity",
    "untolerated_taint": "it did not tolerate the taints of the nodes it wanted",
    "node_unschedulable": "the nodes it wanted were cordoned",
    "node_not_ready": "the nodes it wanted were not ready",
    "pod_affinity": "no node lay beside the pods it had to be near",
    "pod_anti_affinity": "every node lay beside pods it had to be away from",
    "topology_spread": "its spread over zones or nodes allowed no node",
    "topology": "no part of the network was large enough",
    "volume": "a volume or its claim was not ready",
    "port_conflict": "its host port was taken on every node",
    "dra": "a device that it claimed could not be allocated",
    "waiting_victims": "the pods it preempted were still leaving",
    "preemption_no_victim": "preempting others would not have made room",
    "scheduler_backlog": "the scheduler had not tried it yet",
    "scheduler_backlog/not_tried": "the scheduler had not tried it yet",
    "scheduler_backlog/not_enqueued": "the scheduler had not let it into the queue yet",
    "binding": "it was being bound to its nodes",
    "unknown": "its scheduler said something that is not understood",
    "gap": "nobody was looking at the cluster",
}

HELPS = {
    "not_admitted/gated": "Whoever set the scheduling gate must remove it.",
    "not_admitted/suspended": "Resume the job (spec.suspend: false).",
    "not_admitted/queue_missing": "Create queue {queue}, or name one that exists.",
    "not_admitted/queue_closed": "Open queue {queue}, or use another one.",
    "not_admitted/admission_check": "Look at the admission checks of {queue}.",
    "quota": "It starts when jobs of {queue} finish; more quota or a smaller request would start it sooner.",
    "queue_limit": "Ask for less {resource}, or raise the limit of {queue}.",
    "queue_limit/never_fits": "It can never start: ask for less {resource}, or raise the limit of {queue}.",
    "outranked": "It starts when the jobs before it have started; a higher priority moves it forward.",
    "gang_incomplete/group_missing": "Create the pod group that the pods name.",
    "gang_incomplete/members_missing": "Create the missing pods, or lower the gang's minimum.",
    "pods_not_created": "Look at the events of the job and at its controller.",
    "insufficient_resource": "Free {resource} on the nodes it may use, add such a node, or ask for less.",
    "insufficient_resource/never_fits": "Ask for less {resource} a pod, or add a larger node.",
    "fragmentation": "Ask for fewer {resource} a pod, or let jobs on partly used nodes finish.",
    "node_affinity": "Label a node so that it matches, or widen the selector.",
    "untolerated_taint": "Tolerate the taint, or remove it from a node.",
    "node_unschedulable": "Uncordon one of the nodes it wants.",
    "node_not_ready": "Bring back one of the nodes it wants.",
    "pod_affinity": "Start the pods it must be near, or relax the rule.",
    "pod_anti_affinity": "Add a node outside, or relax the rule.",
    "topology_spread": "Make room in the domain that is behind, or allow a larger skew.",
    "volume": "Look at the claim: it may be missing, unbound, or bound elsewhere.",
    "port_conflict": "Use another host port, or add a node.",
    "dra": "Free or add a device of the class that it claims.",
    "waiting_victims": "Nothing to do: it starts when they have left.",
    "scheduler_backlog": "If this lasts, check that a scheduler of the name it asks for runs.",
}

SENTENCES = {
    "join": " ",
    "waiting": "Waiting for {wait}, without a promise.",
    "waiting_promise": "Waiting for {wait} of a {promise} promise; {left} left.",
    "waiting_broken": "Waiting for {wait} of a {promise} promise, broken {overrun} ago.",
    "scheduled": "Placed after {wait}.",
    "scheduled_kept": "Placed after {wait} of a {promise} promise.",
    "scheduled_broken": "Placed after {wait} of a {promise} promise, broken by {overrun}.",
    "cancelled": "Cancelled after waiting {wait}.",
    "cancelled_kept": "Cancelled after waiting {wait} of a {promise} promise.",
    "cancelled_broken": "Cancelled after waiting {wait} of a {promise} promise, broken by {overrun}.",
    "all": "All of it because {because}.",
    "most": "{ms} of it ({share} %) because {because}.",
    "now": "Now because {because}.",
    "nodes": "That concerns {nodes} of {total} nodes; something else rules out the others.",
    "nodes_all": "That concerns all {total} nodes.",
}

CHECKS = {
    "fits": ("has room", "have room"),
    "NodeResourcesFit": ("lacks {resource}", "lack {resource}"),
    "NodePodNumber": ("holds as many pods as it may", "hold as many pods as they may"),
    "NodeNotReady": ("is not ready", "are not ready"),
    "NodeUnschedulable": ("is cordoned", "are cordoned"),
    "NodeAffinity": ("does not match its selector or affinity", "do not match its selector or affinity"),
    "TaintToleration": ("has an untolerated taint", "have an untolerated taint"),
    "NodePorts": ("has its host port taken", "have its host port taken"),
    "InterPodAffinity": ("is ruled out by pod affinity", "are ruled out by pod affinity"),
    "PodTopologySpread": ("is ruled out by its topology spread", "are ruled out by its topology spread"),
    "VolumeBinding": ("cannot reach its volume", "cannot reach its volume"),
    "VolumeZone": ("lies outside the zone of its volume", "lie outside the zone of its volume"),
    "NodeVolumeLimits": ("holds as many volumes as it may", "hold as many volumes as they may"),
    "DynamicResources": ("lacks a device that it claims", "lack a device that it claims"),
    "other": ("fails {check}", "fail {check}"),
}
"""What one node, or several, have in common that fail a check."""

LISTS = {
    "only": "The only node {that}.",
    "first": "{nodes} of {total} nodes {that}",
    "next": "{nodes} {that}",
    "parts": ", ",
    "whole": "{parts}.",
    "names": " and ",
    "checks": " and ",
}

SAID = {
    "free": "it would fit on node {node} if {amount} more {resource} were free there, or if it asked for that much less",
    "free_many": "it would fit on node {node} if {amount} more {resource} were free there, or if it asked for that much less; "
    "{nodes} nodes lack nothing else",
    "free_all": "it would fit on node {node} if {amount} more {resource} were free there",
    "free_all_many": "it would fit on node {node} if {amount} more {resource} were free there; {nodes} nodes lack nothing else",
    "less": "it would fit on node {node} if it asked for {amount} {resource} less, or on one like it that had that much more",
    "less_many": "it would fit on node {node} if it asked for {amount} {resource} less, or on one like it that had that much more; "
    "{nodes} nodes lack nothing else",
    "like": "it would fit on a node like {node} that had {amount} more {resource}",
    "like_many": "it would fit on a node like {node} that had {amount} more {resource}; {nodes} nodes lack nothing else",
    "lift": "it would fit on node {node} if the node {lifted}",
    "lift_many": "it would fit on {nodes} nodes if they {lifted}",
    "together": "no single change makes it fit; {nodes} of {total} nodes come nearest and fail only: {checks}",
    "quota_freed": "it would be let in if {much} were freed in {queue}",
    "quota_freed_anywhere": "it would be let in if {much} were freed in the cluster",
    "quota_less": "it would be let in if it asked for {much} less",
    "quota_capability": "it would be let in if the capability of {queue} were raised by {much}",
    "quota_capability_shared": "it would be let in if the capability of {queue} were raised by {much} and other queues left it that",
    "quota_nodes_shared": "it would be let in if the nodes that are ready had {much} more and other queues left it that",
    "quota_above": "it would be let in if the queues above {queue} left it {much} more",
    "quota_nodes": "it would be let in if the nodes that are ready had {much} more",
    "quota_deserved": "it would be let in if {queue} deserved {much} more",
    "ahead": "{jobs} jobs of the queue went before it, {last} by {plugin}",
    "held": "{places} places are held for it, unbound, until the session ends",
    "placed": "{placed} of {minimum} placed",
    "promised_to": "its place is promised to {tasks}",
    "promised": "it gets {node} when what is being released there has gone",
    "bound_anyway": "the cluster's scheduler bound {task} to {node}, the shadow had said {reason}",
    "too_large": "no node that it may use has more than {most} {resource}; it asks for {much}",
    "places": "it needs {places} places with {amount} free {resource} each; {exist} exist; {partly} nodes have some free, but too little",
    "place": "it needs 1 place with {amount} free {resource}; {exist} exist; {partly} nodes have some free, but too little",
    "places_none": "it needs {places} places with {amount} free {resource} each; {exist} exist",
    "place_none": "it needs 1 place with {amount} free {resource}; {exist} exist",
    "not_bound_anywhere": "the shadow would bind {task} since {seconds} s, the cluster's scheduler does not",
    "not_bound": "the shadow would bind {task} to {node} since {seconds} s, the cluster's scheduler does not",
}
"""Sentences that a scheduler writes into the log, as it writes them."""

INNER = {"Insufficient": "Insufficient {resource}"}

SAID_ONE = {
    "ahead": "{jobs} job of the queue went before it, {last} by {plugin}",
    "held": "{places} place is held for it, unbound, until the session ends",
    "together": "no single change makes it fit; {nodes} of {total} nodes comes nearest and fails only: {checks}",
    "places": "it needs {places} places with {amount} free {resource} each; {exist} exist; {partly} node has some free, but too little",
    "place": "it needs 1 place with {amount} free {resource}; {exist} exist; {partly} node has some free, but too little",
}
"""The same where there is one of what is counted."""

SEES = {
    "because": "It waits because {because}.",
    "bind": "It would be placed now: {task} on {node}.",
    "room": "There is room for it now: {task} waits for its scheduler's next try.",
    "bind_more": "It would be placed now: {task} on {node}, and {more} more.",
    "unread": "What the scheduler saw then cannot be told: {why}",
    "no_log": "What the scheduler saw then cannot be told: no decision was stored, and nothing that reads the log is installed.",
    "nothing": "No scheduler had a reason to tell at that moment: the job had not come before one yet, or one would have placed it.",
}

LABELS = {
    "comma": ", ",
    "promise": "Promise",
    "now": "Now",
    "helps": "Helps",
    "scheduler": "Scheduler",
    "data": "Data",
    "no_promise": "none",
    "deadline": "deadline {at}",
    "nodes": "{n} of {all} nodes",
    "since": "since {at}",
    "until": "until {at}, loaded {ago} ago",
    "replay": "replay, until {at}",
    "replay_over": "replay, over at {at}",
    "no_data": "nothing loaded yet",
    "stored": "{source} {policy}, decided at {at}",
    "rebuilt": "{policy}, made anew from the log as of {at}",
}
"""What stands around an answer in a terminal."""

HEADINGS: dict[str, str] = {}
"""Of columns in a terminal: in English they are called as `--sort-by` calls them."""

CELLS: dict[str, str] = {}
"""Codes in columns of a terminal: in English they stand there as filters take them."""

HINTS = {
    "nothing": "Nothing found.",
    "left_out": "{shown} of {total} are shown; --limit 0 shows all.",
    "ahead": "That moment has not come: this is as of {at}, the end of the log.",
    "others": "This is the newest of {jobs} jobs of its name; --uid asks about another:",
    "unknown": "no job is known with {filter} {value}{near}. Known: {known}.",
    "near": " (did you mean {near}?)",
}
