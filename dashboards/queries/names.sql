-- Jobs whose names begin or end like this one, for "did you mean".
SELECT DISTINCT w.`job_name`, w.`job_kind`
FROM `job_wait` w
WHERE w.`cluster` = :cluster AND w.`namespace` = :namespace
  AND (LOWER(w.`job_name`) LIKE :begin OR LOWER(w.`job_name`) LIKE :end)
ORDER BY w.`job_name`, w.`job_kind`
LIMIT :limit
