CREATE VIEW `v_sla_budget_day` (
  `cluster` COMMENT 'name of the cluster; NAME@replay for a replay',
  `deadline_day` COMMENT 'UTC day on which the promises fell due; a past day changes only by later evidence',
  `tenant` COMMENT 'whose jobs they are',
  `queue` COMMENT 'queue that the jobs name, empty if none',
  `promises` COMMENT 'waits whose deadline fell on this day; those cancelled before it are left out',
  `kept` COMMENT 'of these, waits that ended before their deadline',
  `broken` COMMENT 'of these, waits that lasted until their deadline or longer',
  `kept_share` COMMENT 'kept / promises, 0 to 1',
  `overrun_ms` COMMENT 'waiting past the deadline, summed over the broken'
)
COMMENT 'promises kept and broken, counted on the day of their deadline'
AS
SELECT
  b.`cluster`, b.`deadline_day`, b.`tenant`, b.`queue`,
  COUNT(*) AS `promises`, COUNT(*) - SUM(b.`broken`) AS `kept`, SUM(b.`broken`) AS `broken`,
  (COUNT(*) - SUM(b.`broken`)) / COUNT(*) AS `kept_share`, SUM(b.`overrun_ms`) AS `overrun_ms`
FROM (
  SELECT
    w.`cluster`, CAST(w.`deadline_at` AS DATE) AS `deadline_day`, w.`tenant`, w.`queue`, w.`overrun_ms`,
    CASE WHEN w.`ended_at` IS NULL OR w.`ended_at` >= w.`deadline_at` THEN 1 ELSE 0 END AS `broken`
  FROM `v_job_wait` w
  WHERE w.`deadline_at` <= w.`now_at`
    AND NOT (w.`phase` = 'cancelled' AND w.`ended_at` < w.`deadline_at`)
) b
GROUP BY b.`cluster`, b.`deadline_day`, b.`tenant`, b.`queue`
