CREATE VIEW `v_wait_segment` (
  `day` COMMENT 'UTC day of the creation of the job',
  `cluster` COMMENT 'name of the cluster; NAME@replay for a replay',
  `job_uid` COMMENT 'uid of the object of the job',
  `episode` COMMENT 'number of the wait of this job, from 1',
  `n` COMMENT 'number of the part, from 1',
  `namespace` COMMENT 'namespace of the job',
  `job_kind` COMMENT 'kind of the topmost object of the job',
  `job_name` COMMENT 'name of the topmost object of the job',
  `tenant` COMMENT 'whose job it is',
  `queue` COMMENT 'queue that the job names, empty if none',
  `reason` COMMENT 'code of the reason',
  `detail` COMMENT 'detail of the reason',
  `resource` COMMENT 'resource that is short',
  `from_at` COMMENT 'begin, UTC',
  `to_at` COMMENT 'end; null while it lasts, UTC',
  `ms` COMMENT 'length; of an open part until now_at',
  `nodes` COMMENT 'nodes that the reason concerns',
  `total_nodes` COMMENT 'nodes that were looked at',
  `message` COMMENT 'what the scheduler said, unchanged',
  `also` COMMENT 'reasons that were true at the same time, JSON',
  `evidence` COMMENT 'decision, condition, event, count or gap',
  `estimated` COMMENT 'the own words of the text without knowledge of the nodes',
  `as_of` COMMENT 'log time of the row, UTC',
  `now_at` COMMENT 'log time of the cluster: until then the figures hold, UTC'
)
COMMENT 'a part of a wait with one reason; the parts of a wait tile it, open parts reach to the log time of their cluster'
AS
SELECT
  t.`day`, t.`cluster`, t.`job_uid`, t.`episode`, t.`n`, t.`namespace`, t.`job_kind`, t.`job_name`, t.`tenant`, t.`queue`,
  t.`reason`, t.`detail`, t.`resource`, t.`from_at`, t.`to_at`,
  CASE WHEN t.`to_at` IS NULL THEN MILLISECONDS_DIFF(t.`now_at`, t.`from_at`) ELSE t.`ms` END AS `ms`,
  t.`nodes`, t.`total_nodes`, t.`message`, t.`also`, t.`evidence`, t.`estimated`, t.`as_of`, t.`now_at`
FROM (
  SELECT s.*, GREATEST(COALESCE(p.`log_at`, s.`as_of`), s.`as_of`) AS `now_at`
  FROM `wait_segment` s
  LEFT JOIN `progress` p ON p.`cluster` = s.`cluster` AND p.`stage` = 'aggregation'
  WHERE p.`version` IS NULL OR s.`version` DIV 17592186044416 >= p.`version` DIV 17592186044416
) t
