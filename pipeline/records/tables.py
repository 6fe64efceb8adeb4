"""The table map: every table of the warehouse with its key, columns and comments.

One home for what the DDL, the loader, the operators that write rows and the tests of every query agree on. All tables
are UNIQUE with a sequence: loading a row twice, late or out of order converges, and a row marked deleted removes its
key. Judged tables carry `version` = generation << 44 | version; raw tables, which come straight from the log, carry
`observedms` there. `day` is the UTC day of the job's creation (raw tables: of the record) and never changes for a key.

Names: `_at` is DATETIME(3) UTC, held as milliseconds since 1970 until it is written; `_ms` is a number of milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

VERSION = "version"
DELETED = "__DORIS_DELETE_SIGN__"


@dataclass(frozen=True)
class Column:
    """A column: Doris type and the comment that stands in the warehouse. Key columns are never null."""

    name: str
    type: str
    comment: str


@dataclass(frozen=True)
class Table:
    """A table: `key` is a prefix of `columns`; `raw` tables are filled from records, the others from rows."""

    name: str
    comment: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    raw: bool = False

    @property
    def partitioned(self) -> bool:
        """Whether the table has a partition a day."""
        return self.key[0] == "day"

    def column(self, name: str) -> Column:
        """The column of that name. Raises KeyError."""
        return _BY_NAME[self.name][name]


def _c(name: str, kind: str, comment: str) -> Column:
    return Column(name, kind, comment)


_DAY = _c("day", "DATE", "UTC day of the job's creation; of the record in raw tables")
_CLUSTER = _c("cluster", "VARCHAR(128)", "name of the cluster; NAME@replay for a replay")
_JOB_UID = _c("job_uid", "VARCHAR(256)", "uid of the job's object; name:NAMESPACE/NAME while it does not exist")
_EPISODE = _c("episode", "INT", "number of the wait of this job, from 1")
_VERSION = _c(VERSION, "BIGINT", "sequence: of two rows with one key the higher wins")
_JOB = (
    _c("namespace", "VARCHAR(256)", "namespace of the job"),
    _c("job_kind", "VARCHAR(64)", "kind of the job's topmost object"),
    _c("job_name", "VARCHAR(512)", "name of the job's topmost object"),
    _c("tenant", "VARCHAR(256)", "root of the queue's parents, else the namespace's tenant label, else the namespace"),
    _c("queue", "VARCHAR(256)", "queue that the job names, empty if none"),
)
_REASON = (
    _c("reason", "VARCHAR(64)", "code of the reason"),
    _c("detail", "VARCHAR(512)", "detail of the reason"),
    _c("resource", "VARCHAR(256)", "resource that is short"),
)


def _table(
    name: str, comment: str, key: tuple[Column, ...], *columns: Column | tuple[Column, ...], raw: bool = False
) -> Table:
    flat: list[Column] = list(key)
    for column in columns:
        flat.extend(column if isinstance(column, tuple) else (column,))
    return Table(name, comment, tuple(c.name for c in key), (*flat, _VERSION), raw)


JOB_WAIT = _table(
    "job_wait",
    "one wait (episode) of a job",
    (_DAY, _CLUSTER, _JOB_UID, _EPISODE),
    _JOB,
    _c("priority_class", "VARCHAR(256)", "priority class"),
    _c("priority", "BIGINT", "priority"),
    _c("owner", "VARCHAR(512)", "who submitted it, if known"),
    _c("tasks", "INT", "pods that the job asks for"),
    _c("minimum", "INT", "pods that must be placed before the wait ends"),
    _c("gpus", "BIGINT", "GPUs that all its pods ask for"),
    _c("cpus_milli", "BIGINT", "CPU that all its pods ask for, thousandths"),
    _c("memory_bytes", "BIGINT", "memory that all its pods ask for, bytes"),
    _c("created_at", "DATETIME(3)", "creation of the job's object"),
    _c("started_at", "DATETIME(3)", "begin of this wait"),
    _c("first_task_at", "DATETIME(3)", "when the first pod was placed"),
    _c("scheduled_at", "DATETIME(3)", "when the minimum was placed: end of the wait"),
    _c("running_at", "DATETIME(3)", "when the minimum was running"),
    _c("ended_at", "DATETIME(3)", "end of the wait, also when it was cancelled"),
    _c("phase", "VARCHAR(16)", "waiting, scheduled or cancelled"),
    _c("cause", "VARCHAR(128)", "why a later wait began, empty for the first"),
    _c("sla", "VARCHAR(16)", "none, on_track, at_risk, violated, met, met_late or cancelled (also past its deadline)"),
    _c("promise_ms", "BIGINT", "waiting time promised"),
    _c("promise_source", "VARCHAR(256)", "where the promise stands"),
    _c("misconfigured", "VARCHAR(512)", "a promise that cannot be read, as written"),
    _c("deadline_at", "DATETIME(3)", "when the promise is broken"),
    _c("wait_ms", "BIGINT", "length of the wait; of an open one until as_of"),
    _c("startup_ms", "BIGINT", "from the end of the wait until the minimum was running"),
    _c("leading_reason", "VARCHAR(64)", "reason that held most of the wait"),
    _c("leading_detail", "VARCHAR(512)", "its detail"),
    _c("leading_resource", "VARCHAR(256)", "its resource"),
    _c("leading_share", "DOUBLE", "its share of the wait, 0 to 1"),
    _c("estimated_ms", "BIGINT", "part of the wait whose reason is an estimate"),
    _c("gap_ms", "BIGINT", "part of the wait that nobody saw"),
    _c("partial", "BOOLEAN", "the beginning was not seen"),
    _c("as_of", "DATETIME(3)", "log time of this row"),
)
WAIT_SEGMENT = _table(
    "wait_segment",
    "a part of a wait with one reason; the parts of a wait tile it",
    (_DAY, _CLUSTER, _JOB_UID, _EPISODE, _c("n", "INT", "number of the part, from 1")),
    _JOB,
    _REASON,
    _c("from_at", "DATETIME(3)", "begin"),
    _c("to_at", "DATETIME(3)", "end; null while it lasts"),
    _c("ms", "BIGINT", "length; of an open part until as_of"),
    _c("nodes", "INT", "nodes that the reason concerns"),
    _c("total_nodes", "INT", "nodes that were looked at"),
    _c("message", "STRING", "what the scheduler said, unchanged"),
    _c("also", "JSON", "reasons that were true at the same time"),
    _c("evidence", "VARCHAR(16)", "decision, condition, event, count or gap"),
    _c("estimated", "BOOLEAN", "the text's own words without knowledge of the nodes"),
    _c("as_of", "DATETIME(3)", "log time of this row"),
)
WAIT_REASON_HOUR = _table(
    "wait_reason_hour",
    "waiting of a job in one hour by reason; sums over jobs are plain SQL",
    (
        _DAY, _CLUSTER, _c("hour", "DATETIME(3)", "begin of the UTC hour"), _JOB_UID, _EPISODE,
        _c("reason", "VARCHAR(64)", "code of the reason"),
        _c("resource", "VARCHAR(256)", "resource that is short, empty if none"),
    ),
    _JOB,
    _c("wait_ms", "BIGINT", "waiting in this hour"),
    _c("gpu_ms", "BIGINT", "waiting times the GPUs that the job asks for"),
)  # fmt: skip
SLA_VIOLATION = _table(
    "sla_violation",
    "a promise that was broken; one per wait",
    (_DAY, _CLUSTER, _JOB_UID, _EPISODE),
    _JOB,
    _c("promise_ms", "BIGINT", "waiting time promised"),
    _c("deadline_at", "DATETIME(3)", "when the promise was broken"),
    _c("violated_at", "DATETIME(3)", "the same moment; kept for the day it may differ"),
    _c("resolved_at", "DATETIME(3)", "end of the wait"),
    _c("overrun_ms", "BIGINT", "waiting past the deadline; of an open one until as_of"),
    _c("reason", "VARCHAR(64)", "reason that held most of the wait"),
    _c("resource", "VARCHAR(256)", "its resource"),
    _c("fingerprint", "VARCHAR(64)", "groups violations of one cause: v1:hash(cluster, queue, reason)"),
    _c("state", "VARCHAR(16)", "open, resolved or withdrawn"),
    _c("as_of", "DATETIME(3)", "log time of this row"),
)
DECISION = _table(
    "decision",
    "what a scheduler decided",
    (_DAY, _CLUSTER, _c("id", "VARCHAR(512)", "identity of the record")),
    _c("source", "VARCHAR(16)", "shadow, live or simulate"),
    _c("policy", "VARCHAR(128)", "name of the policy"),
    _c("session_at", "DATETIME(3)", "log second of the session"),
    _c("kind", "VARCHAR(32)", "attribution, enqueue, bind, pipeline, evict, discard, diverged or close"),
    _c("namespace", "VARCHAR(256)", "namespace of the job"),
    _c("job_kind", "VARCHAR(64)", "kind of the job"),
    _c("job_name", "VARCHAR(512)", "name of the job"),
    _JOB_UID,
    _c("task", "VARCHAR(512)", "pod; null for what is said of the whole job"),
    _c("node", "VARCHAR(256)", "node"),
    _REASON,
    _c("failure_sets", "JSON", "nodes by the set of filters they failed"),
    _c("helps", "JSON", "smallest changes that would help"),
    _c("nodes", "INT", "nodes for which the reason holds"),
    _c("total_nodes", "INT", "nodes that were looked at"),
    _c("message", "STRING", "what the scheduler said, unchanged"),
    raw=True,
)
EVENT = _table(
    "event",
    "one sight of a Kubernetes Event, with absolute counts",
    (
        _DAY, _CLUSTER, _c("uid", "VARCHAR(256)", "uid of the Event"),
        _c("object_version", "VARCHAR(64)", "resourceVersion of this sight"),
    ),
    _c("namespace", "VARCHAR(256)", "namespace of the Event"),
    _c("regarding_kind", "VARCHAR(64)", "kind of the object it is about"),
    _c("regarding_namespace", "VARCHAR(256)", "its namespace"),
    _c("regarding_name", "VARCHAR(512)", "its name"),
    _c("regarding_uid", "VARCHAR(256)", "its uid"),
    _c("job_uid", "VARCHAR(256)", "job that the object belongs to"),
    _c("type", "VARCHAR(32)", "Normal or Warning"),
    _c("reason", "VARCHAR(256)", "reason as the reporter writes it"),
    _c("message", "STRING", "message as the reporter writes it"),
    _c("component", "VARCHAR(256)", "reporter"),
    _c("count", "BIGINT", "occurrences so far"),
    _c("first_us", "BIGINT", "first occurrence, microseconds since 1970"),
    _c("last_us", "BIGINT", "newest occurrence, microseconds since 1970"),
    _c("observed_at", "DATETIME(3)", "when it was received"),
    raw=True,
)  # fmt: skip
OBJECT_CHANGE = _table(
    "object_change",
    "one change of a watched object",
    (
        _DAY, _CLUSTER, _c("uid", "VARCHAR(256)", "uid of the object"),
        _c("object_version", "VARCHAR(64)", "resourceVersion after the change"),
        _c("change", "VARCHAR(16)", "added, modified, deleted, moved or facts"),
    ),
    _c("kind", "VARCHAR(64)", "kind"),
    _c("api_group", "VARCHAR(128)", "API group, empty for core"),
    _c("namespace", "VARCHAR(256)", "namespace"),
    _c("name", "VARCHAR(512)", "name"),
    _c("job_uid", "VARCHAR(256)", "job that the object belongs to"),
    _c("summary", "JSON", "phase, node, conditions and facts"),
    _c("synthetic", "BOOLEAN", "seen by comparing a list, not by a watch"),
    _c("observed_at", "DATETIME(3)", "when it was received"),
    raw=True,
)  # fmt: skip
DEAD_LETTER = _table(
    "dead_letter",
    "input that could not be understood, kept as it came",
    (_DAY, _CLUSTER, _c("id", "VARCHAR(256)", "hash of place and bytes")),
    _c("stage", "VARCHAR(32)", "stage that gave up on it"),
    _c("kind", "VARCHAR(64)", "kind of the watch, or table of the row"),
    _c("error", "STRING", "why"),
    _c("bytes", "STRING", "the input, base64, at most the first 64 KiB"),
    _c("size", "BIGINT", "length of the input in bytes"),
    _c("sha256", "VARCHAR(64)", "hash of the whole input"),
    _c("observed_at", "DATETIME(3)", "when it was received"),
)
PIPELINE_MINUTE = _table(
    "pipeline_minute",
    "counters of the stages in the loader's process, a minute of log time; they begin at zero with the process",
    (
        _DAY, _CLUSTER, _c("minute", "DATETIME(3)", "begin of the minute"),
        _c("stage", "VARCHAR(32)", "stage"), _c("name", "VARCHAR(128)", "counter: records, dead_letters or errors"),
    ),
    _c("value", "DOUBLE", "value at the end of the minute"),
)  # fmt: skip
QUEUE_MINUTE = _table(
    "queue_minute",
    "a queue and a resource from this minute on, until its next row; all of them once an hour, else those that changed",
    (
        _DAY, _CLUSTER, _c("minute", "DATETIME(3)", "minute from which this holds"),
        _c("queue", "VARCHAR(256)", "queue"), _c("resource", "VARCHAR(256)", "resource"),
    ),
    _c("tenant", "VARCHAR(256)", "topmost of the queue's parents, else the queue itself"),
    _c("quota", "DOUBLE", "what it deserves by the policy, in cores, bytes or devices; null if it has no share"),
    _c("ceiling", "DOUBLE", "the most that it may use; null without a limit"),
    _c("used", "DOUBLE", "what its pods hold"),
    _c("requested", "DOUBLE", "what its pods hold or wait for"),
    _c("waiting", "INT", "its jobs with a pod that waits"),
    raw=True,
)  # fmt: skip
NODE_MINUTE = _table(
    "node_minute",
    "a node from this minute on, until its next row; all of them once an hour, else those that changed",
    (
        _DAY, _CLUSTER, _c("minute", "DATETIME(3)", "minute from which this holds"),
        _c("node", "VARCHAR(256)", "node"),
    ),
    _c("pool", "VARCHAR(256)", "its pool, by the labels that are set to name one"),
    _c("open", "BOOLEAN", "ready and not cordoned; false also once it is gone"),
    _c("gpus", "INT", "GPUs that it has"),
    _c("gpus_free", "INT", "GPUs that no pod holds"),
    _c("cpus_milli", "BIGINT", "CPU that it has, thousandths"),
    _c("cpus_free_milli", "BIGINT", "CPU that no pod holds, thousandths"),
    _c("memory_bytes", "BIGINT", "memory that it has, bytes"),
    _c("memory_free_bytes", "BIGINT", "memory that no pod holds, bytes"),
    _c("pods", "INT", "pods on it"),
    raw=True,
)  # fmt: skip
PROGRESS = _table(
    "progress",
    "how far each stage has come",
    (_CLUSTER, _c("stage", "VARCHAR(32)", "collector, aggregation or loader")),
    _c("log_at", "DATETIME(3)", "log time it has worked up to"),
    _c("loaded_at", "DATETIME(3)", "clock of the loader when it wrote this row"),
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        JOB_WAIT, WAIT_SEGMENT, WAIT_REASON_HOUR, SLA_VIOLATION, DECISION, EVENT, OBJECT_CHANGE, DEAD_LETTER,
        QUEUE_MINUTE, NODE_MINUTE, PIPELINE_MINUTE, PROGRESS,
    )
}  # fmt: skip
"""Every table, by name, judged ones first."""

_BY_NAME = {table.name: {column.name: column for column in table.columns} for table in TABLES.values()}
