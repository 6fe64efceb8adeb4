-- All waits of the jobs that have or had this name, newest job and latest wait first.
SELECT w.*
FROM `v_job_wait` w
WHERE w.`cluster` = :cluster AND w.`namespace` = :namespace AND w.`job_kind` = :kind AND w.`job_name` = :name
  AND (:uid = '' OR w.`job_uid` = :uid)
ORDER BY w.`started_at` DESC, w.`job_uid`, w.`episode` DESC
LIMIT :limit
