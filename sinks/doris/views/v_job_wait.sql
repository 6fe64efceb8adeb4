CREATE VIEW `v_job_wait` (
  `day` COMMENT 'UTC day of the creation of the job; put it into WHERE to read few partitions',
  `cluster` COMMENT 'name of the cluster; NAME@replay for a replay',
  `job_uid` COMMENT 'uid of the object of the job; name:NAMESPACE/NAME while it does not exist',
  `episode` COMMENT 'number of the wait of this job, from 1',
  `namespace` COMMENT 'namespace of the job',
  `job_kind` COMMENT 'kind of the topmost object of the job',
  `job_name` COMMENT 'name of the topmost object of the job',
  `tenant` COMMENT 'whose job it is',
  `queue` COMMENT 'queue that the job names, empty if none',
  `priority_class` COMMENT 'priority class',
  `priority` COMMENT 'priority',
  `owner` COMMENT 'who submitted it, if known',
  `tasks` COMMENT 'pods that the job asks for',
  `minimum` COMMENT 'pods that must be placed before the wait ends',
  `gpus` COMMENT 'GPUs that all its pods ask for',
  `cpus_milli` COMMENT 'CPU that all its pods ask for, thousandths',
  `memory_bytes` COMMENT 'memory that all its pods ask for, bytes',
  `created_at` COMMENT 'creation of the object of the job, UTC',
  `started_at` COMMENT 'begin of this wait, UTC',
  `first_task_at` COMMENT 'when the first pod was placed, UTC',
  `scheduled_at` COMMENT 'when the minimum was placed: end of the wait, UTC',
  `running_at` COMMENT 'when the minimum was running, UTC',
  `ended_at` COMMENT 'end of the wait, also when it was cancelled; null while it lasts, UTC',
  `phase` COMMENT 'waiting, scheduled or cancelled',
  `cause` COMMENT 'why a later wait began, empty for the first',
  `sla` COMMENT 'none, on_track, at_risk, violated, met, met_late or cancelled (before its deadline); of an open wait at now_at',
  `promise_ms` COMMENT 'waiting time promised',
  `promise_source` COMMENT 'where the promise stands',
  `misconfigured` COMMENT 'a promise that cannot be read, as written',
  `deadline_at` COMMENT 'when the promise is broken, UTC',
  `wait_ms` COMMENT 'length of the wait; of an open one until now_at',
  `overrun_ms` COMMENT 'waiting past the deadline; 0 before it, null without a promise',
  `startup_ms` COMMENT 'from the end of the wait until the minimum was running',
  `leading_reason` COMMENT 'reason that held most of the wait',
  `leading_detail` COMMENT 'its detail',
  `leading_resource` COMMENT 'its resource',
  `leading_share` COMMENT 'its share of the wait, 0 to 1',
  `estimated_ms` COMMENT 'part of the wait whose reason is an estimate',
  `gap_ms` COMMENT 'part of the wait that nobody saw',
  `partial` COMMENT 'the beginning was not seen',
  `as_of` COMMENT 'log time of the row, UTC',
  `now_at` COMMENT 'log time of the cluster: until then the figures hold, UTC'
)
COMMENT 'one wait of a job; open waits are counted up to the log time of their cluster'
AS
SELECT
  t.`day`, t.`cluster`, t.`job_uid`, t.`episode`, t.`namespace`, t.`job_kind`, t.`job_name`, t.`tenant`, t.`queue`,
  t.`priority_class`, t.`priority`, t.`owner`, t.`tasks`, t.`minimum`, t.`gpus`, t.`cpus_milli`, t.`memory_bytes`,
  t.`created_at`, t.`started_at`, t.`first_task_at`, t.`scheduled_at`, t.`running_at`, t.`ended_at`, t.`phase`, t.`cause`,
  -- What became of the promise, for every view and question. A row says how its wait ended: here what was broken before it
  -- was cancelled stays broken, and an open wait breaks its promise the moment its deadline comes, before its row does.
  CASE
    WHEN t.`phase` = 'waiting' AND t.`sla` IN ('on_track', 'at_risk') AND t.`deadline_at` <= t.`now_at` THEN 'violated'
    WHEN t.`phase` = 'cancelled' AND t.`deadline_at` <= t.`ended_at` THEN 'violated'
    ELSE t.`sla`
  END AS `sla`,
  t.`promise_ms`, t.`promise_source`, t.`misconfigured`, t.`deadline_at`,
  CASE WHEN t.`phase` = 'waiting' THEN MILLISECONDS_DIFF(t.`now_at`, t.`started_at`) ELSE t.`wait_ms` END AS `wait_ms`,
  CASE
    WHEN t.`deadline_at` IS NULL THEN NULL
    ELSE GREATEST(MILLISECONDS_DIFF(COALESCE(t.`ended_at`, t.`now_at`), t.`deadline_at`), 0)
  END AS `overrun_ms`,
  t.`startup_ms`, t.`leading_reason`, t.`leading_detail`, t.`leading_resource`, t.`leading_share`, t.`estimated_ms`,
  t.`gap_ms`, t.`partial`, t.`as_of`, t.`now_at`
FROM (
  SELECT w.*, GREATEST(COALESCE(p.`log_at`, w.`as_of`), w.`as_of`) AS `now_at`
  FROM `job_wait` w
  LEFT JOIN `progress` p ON p.`cluster` = w.`cluster` AND p.`stage` = 'aggregation'
  -- version = generation << 44 | n: after a rebuild only rows of the newest generation count
  WHERE p.`version` IS NULL OR w.`version` DIV 17592186044416 >= p.`version` DIV 17592186044416
) t
