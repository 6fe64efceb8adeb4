-- The jobs that have or had this name one after the other, newest first.
SELECT w.`job_uid`, MIN(w.`created_at`) AS `created_at`, MIN(w.`started_at`) AS `started_at`,
  MAX_BY(w.`phase`, w.`episode`) AS `phase`, MAX_BY(w.`sla`, w.`episode`) AS `sla`
FROM `v_job_wait` w
WHERE w.`cluster` = :cluster AND w.`namespace` = :namespace AND w.`job_kind` = :kind AND w.`job_name` = :name
GROUP BY w.`job_uid`
ORDER BY MIN(w.`started_at`) DESC, w.`job_uid`
LIMIT :limit
