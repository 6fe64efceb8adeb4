-- Queues with their jobs; figures of waiting are of open waits, `violated` of every wait that broke its promise.
SELECT
  w.`queue`,
  w.`tenant`,
  COUNT(DISTINCT w.`job_uid`) AS `jobs`,
  SUM(CASE WHEN w.`phase` = 'waiting' THEN 1 ELSE 0 END) AS `waiting`,
  SUM(CASE WHEN w.`sla` IN ('violated', 'met_late') THEN 1 ELSE 0 END) AS `violated`,
  MAX(CASE WHEN w.`phase` = 'waiting' THEN w.`wait_ms` ELSE 0 END) AS `longest_wait_ms`,
  SUM(CASE WHEN w.`phase` = 'waiting' THEN w.`wait_ms` ELSE 0 END) AS `waiting_ms`,
  SUM(CASE WHEN w.`phase` = 'waiting' THEN COALESCE(w.`gpus`, 0) ELSE 0 END) AS `gpus_waiting`
-- include _waits
GROUP BY w.`queue`, w.`tenant`
ORDER BY `waiting_ms` DESC, `jobs` DESC, w.`queue`, w.`tenant`
LIMIT :limit
