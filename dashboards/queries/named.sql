-- All waits of the jobs that have or had this name, wherever they are, newest job and latest wait first.
SELECT w.*
FROM `v_job_wait` w
WHERE w.`job_name` = :name
  AND (:any_cluster = 1 OR w.`cluster` IN (:cluster))
  AND (:any_namespace = 1 OR w.`namespace` IN (:namespace))
  AND (:uid = '' OR w.`job_uid` = :uid)
ORDER BY w.`started_at` DESC, w.`cluster`, w.`job_uid`, w.`episode` DESC
LIMIT :limit
