CREATE VIEW `v_sla_violation` (
  `day` COMMENT 'UTC day of the creation of the job',
  `cluster` COMMENT 'name of the cluster; NAME@replay for a replay',
  `job_uid` COMMENT 'uid of the object of the job',
  `episode` COMMENT 'number of the wait of this job, from 1',
  `namespace` COMMENT 'namespace of the job',
  `job_kind` COMMENT 'kind of the topmost object of the job',
  `job_name` COMMENT 'name of the topmost object of the job',
  `tenant` COMMENT 'whose job it is',
  `queue` COMMENT 'queue that the job names, empty if none',
  `promise_ms` COMMENT 'waiting time promised',
  `deadline_at` COMMENT 'when the promise was broken, UTC',
  `violated_at` COMMENT 'the same moment, UTC',
  `resolved_at` COMMENT 'end of the wait; null while it lasts, UTC',
  `overrun_ms` COMMENT 'waiting past the deadline; of an open one until now_at',
  `reason` COMMENT 'reason that held most of the wait',
  `resource` COMMENT 'its resource',
  `fingerprint` COMMENT 'groups violations of one cause',
  `state` COMMENT 'open, resolved or withdrawn (later evidence ended the wait before its deadline)',
  `as_of` COMMENT 'log time of the row, UTC',
  `now_at` COMMENT 'log time of the cluster: until then the figures hold, UTC'
)
COMMENT 'a promise that was broken; one per wait'
AS
SELECT
  t.`day`, t.`cluster`, t.`job_uid`, t.`episode`, t.`namespace`, t.`job_kind`, t.`job_name`, t.`tenant`, t.`queue`,
  t.`promise_ms`, t.`deadline_at`, t.`violated_at`, t.`resolved_at`,
  CASE
    WHEN t.`state` = 'open' THEN MILLISECONDS_DIFF(t.`now_at`, t.`deadline_at`)
    ELSE t.`overrun_ms`
  END AS `overrun_ms`,
  t.`reason`, t.`resource`, t.`fingerprint`, t.`state`, t.`as_of`, t.`now_at`
FROM (
  SELECT v.*, GREATEST(COALESCE(p.`log_at`, v.`as_of`), v.`as_of`) AS `now_at`
  FROM `sla_violation` v
  LEFT JOIN `progress` p ON p.`cluster` = v.`cluster` AND p.`stage` = 'aggregation'
  WHERE p.`version` IS NULL OR v.`version` DIV 17592186044416 >= p.`version` DIV 17592186044416
) t
