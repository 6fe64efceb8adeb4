-- Jobs whose names begin or end like this one, for "did you mean".
SELECT DISTINCT w.`job_name`, w.`job_kind`
FROM `job_wait` w
WHERE (:any_cluster = 1 OR w.`cluster` IN (:cluster))
  AND (:any_namespace = 1 OR w.`namespace` IN (:namespace))
  AND (LOWER(w.`job_name`) LIKE :begin OR LOWER(w.`job_name`) LIKE :end)
ORDER BY w.`job_name`, w.`job_kind`
LIMIT :limit
