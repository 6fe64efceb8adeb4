-- Promises and open waits in one row. A promise counts as soon as it is decided: kept, also before its deadline, or broken.
SELECT
  SUM(CASE WHEN w.`deadline_at` IS NOT NULL THEN 1 ELSE 0 END) AS `promised`,
  SUM(CASE WHEN w.`sla` = 'met' THEN 1 ELSE 0 END) AS `kept`,
  SUM(CASE WHEN w.`phase` = 'waiting' AND w.`sla` = 'violated' THEN 1 ELSE 0 END) AS `violated_open`,
  SUM(CASE WHEN w.`sla` IN ('violated', 'met_late') THEN 1 ELSE 0 END) AS `violated_total`,
  SUM(CASE WHEN w.`sla` = 'at_risk' THEN 1 ELSE 0 END) AS `at_risk`,
  SUM(CASE WHEN w.`phase` = 'waiting' THEN 1 ELSE 0 END) AS `jobs`,
  SUM(CASE WHEN w.`phase` = 'waiting' THEN COALESCE(w.`gpus`, 0) ELSE 0 END) AS `gpus`,
  SUM(CASE WHEN w.`phase` = 'waiting' THEN w.`wait_ms` ELSE 0 END) AS `wait_ms`
-- include _waits
LIMIT 1
