-- Queues with their jobs; figures of waiting are of open waits, `violated` of every wait that reached its deadline.
SELECT
  w.`queue`,
  w.`tenant`,
  COUNT(DISTINCT w.`job_uid`) AS `jobs`,
  SUM(CASE WHEN w.`phase` = 'waiting' THEN 1 ELSE 0 END) AS `waiting`,
  SUM(CASE WHEN w.`deadline_at` <= COALESCE(w.`ended_at`, w.`now_at`) THEN 1 ELSE 0 END) AS `violated`,
  MAX(CASE WHEN w.`phase` = 'waiting' THEN w.`wait_ms` ELSE 0 END) AS `longest_wait_ms`,
  SUM(CASE WHEN w.`phase` = 'waiting' THEN w.`wait_ms` ELSE 0 END) AS `waiting_ms`,
  SUM(CASE WHEN w.`phase` = 'waiting' THEN COALESCE(w.`gpus`, 0) ELSE 0 END) AS `gpus_waiting`
FROM `v_job_wait` w
WHERE (:any_cluster = 1 OR w.`cluster` IN (:cluster))
  AND (:any_namespace = 1 OR w.`namespace` IN (:namespace))
  AND (:any_tenant = 1 OR w.`tenant` IN (:tenant))
  AND (:any_queue = 1 OR w.`queue` IN (:queue))
  AND (:any_kind = 1 OR w.`job_kind` IN (:kind))
GROUP BY w.`queue`, w.`tenant`
ORDER BY `waiting_ms` DESC, `jobs` DESC, w.`queue`, w.`tenant`
LIMIT :limit
