CREATE VIEW `v_sla_budget_day` (
  `cluster` COMMENT 'name of the cluster; NAME@replay for a replay',
  `deadline_day` COMMENT 'UTC day on which the promises fell due; a past day changes only by later evidence',
  `tenant` COMMENT 'whose jobs they are',
  `queue` COMMENT 'queue that the jobs name, empty if none',
  `promises` COMMENT 'promises that fell due on this day; those of waits cancelled before are left out',
  `kept` COMMENT 'of these, sla met: waits that ended before their deadline',
  `broken` COMMENT 'of these, sla violated or met_late: waits that lasted until their deadline or longer',
  `kept_share` COMMENT 'kept / promises, 0 to 1',
  `overrun_ms` COMMENT 'waiting past the deadline, summed over the broken'
)
COMMENT 'promises kept and broken, each counted on the day of its deadline, none before it'
AS
SELECT
  b.`cluster`, b.`deadline_day`, b.`tenant`, b.`queue`,
  COUNT(*) AS `promises`, SUM(b.`kept`) AS `kept`, COUNT(*) - SUM(b.`kept`) AS `broken`,
  SUM(b.`kept`) / COUNT(*) AS `kept_share`, SUM(b.`overrun_ms`) AS `overrun_ms`
FROM (
  SELECT
    w.`cluster`, CAST(w.`deadline_at` AS DATE) AS `deadline_day`, w.`tenant`, w.`queue`, w.`overrun_ms`,
    CASE WHEN w.`sla` = 'met' THEN 1 ELSE 0 END AS `kept`
  FROM `v_job_wait` w
  WHERE w.`deadline_at` <= w.`now_at` AND w.`sla` <> 'cancelled'
) b
GROUP BY b.`cluster`, b.`deadline_day`, b.`tenant`, b.`queue`
