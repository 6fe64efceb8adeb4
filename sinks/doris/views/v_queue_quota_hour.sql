CREATE VIEW `v_queue_quota_hour` (
  `cluster` COMMENT 'name of the cluster; NAME@replay for a replay',
  `hour` COMMENT 'begin of the hour, UTC',
  `tenant` COMMENT 'topmost of the parents of the queue, else the queue itself',
  `queue` COMMENT 'queue',
  `resource` COMMENT 'resource; amounts are cores, bytes or devices',
  `quota` COMMENT 'what the queue deserved by the policy, on average over the hour; null if it has no share',
  `ceiling` COMMENT 'the most that it may use, on average; null without a limit',
  `used` COMMENT 'what its pods held, on average',
  `requested` COMMENT 'what its pods held or waited for, on average',
  `borrowed` COMMENT 'what it used beyond its quota, on average',
  `owed` COMMENT 'what it asked for within its quota and did not have, on average',
  `satisfaction` COMMENT 'what it had of what it asked for within its quota, 0 to 1; null if it asked for nothing',
  `waiting_jobs` COMMENT 'its jobs with a pod that waited, on average',
  `ms` COMMENT 'how much of the hour these averages are of'
)
COMMENT 'what queues deserved, used and asked for by hour, weighted by time; of the open hour up to now'
AS
SELECT
  s.`cluster`, s.`hour`, s.`tenant`, s.`queue`, s.`resource`,
  SUM(s.`quota` * s.`ms`) / NULLIF(SUM(CASE WHEN s.`quota` IS NULL THEN 0 ELSE s.`ms` END), 0) AS `quota`,
  SUM(s.`ceiling` * s.`ms`) / NULLIF(SUM(CASE WHEN s.`ceiling` IS NULL THEN 0 ELSE s.`ms` END), 0) AS `ceiling`,
  SUM(s.`used` * s.`ms`) / NULLIF(SUM(s.`ms`), 0) AS `used`,
  SUM(s.`requested` * s.`ms`) / NULLIF(SUM(s.`ms`), 0) AS `requested`,
  SUM(GREATEST(s.`used` - s.`quota`, 0) * s.`ms`) / NULLIF(SUM(s.`ms`), 0) AS `borrowed`,
  SUM(GREATEST(LEAST(s.`requested`, s.`quota`) - s.`used`, 0) * s.`ms`) / NULLIF(SUM(s.`ms`), 0) AS `owed`,
  SUM(LEAST(s.`used`, s.`requested`, s.`quota`) * s.`ms`) / NULLIF(SUM(LEAST(s.`requested`, s.`quota`) * s.`ms`), 0)
    AS `satisfaction`,
  SUM(s.`waiting` * s.`ms`) / NULLIF(SUM(s.`ms`), 0) AS `waiting_jobs`,
  SUM(s.`ms`) AS `ms`
FROM (
  -- a row holds until the next of its queue and resource; everything is told anew at the begin of each hour
  SELECT
    t.`cluster`, t.`hour`, t.`tenant`, t.`queue`, t.`resource`, t.`quota`, t.`ceiling`, t.`used`, t.`requested`, t.`waiting`,
    GREATEST(
      MILLISECONDS_DIFF(LEAST(COALESCE(t.`next_at`, t.`hour_end`), COALESCE(p.`log_at`, t.`hour_end`)), t.`minute`), 0
    ) AS `ms`
  FROM (
    SELECT
      q.`cluster`, q.`minute`, q.`tenant`, q.`queue`, q.`resource`, q.`quota`, q.`ceiling`, q.`used`, q.`requested`,
      q.`waiting`, DATE_TRUNC(q.`minute`, 'hour') AS `hour`,
      DATE_ADD(DATE_TRUNC(q.`minute`, 'hour'), INTERVAL 1 HOUR) AS `hour_end`,
      LEAD(q.`minute`, 1, NULL) OVER (
        PARTITION BY q.`cluster`, q.`queue`, q.`resource`, DATE_TRUNC(q.`minute`, 'hour') ORDER BY q.`minute`
      ) AS `next_at`
    FROM `queue_minute` q
  ) t
  LEFT JOIN `progress` p ON p.`cluster` = t.`cluster` AND p.`stage` = 'loader'
) s
GROUP BY s.`cluster`, s.`hour`, s.`tenant`, s.`queue`, s.`resource`
