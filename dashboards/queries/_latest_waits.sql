-- The latest wait of each job that is asked for, and how many waits the job had.
FROM `v_job_wait` w
JOIN (
  SELECT j.`cluster`, j.`job_uid`, MAX(j.`episode`) AS `latest`, COUNT(*) AS `episodes`
  FROM `v_job_wait` j
  WHERE (:any_cluster = 1 OR j.`cluster` IN (:cluster))
    AND (:any_namespace = 1 OR j.`namespace` IN (:namespace))
    AND (:any_name = 1 OR j.`job_name` IN (:name))
  GROUP BY j.`cluster`, j.`job_uid`
) e ON e.`cluster` = w.`cluster` AND e.`job_uid` = w.`job_uid` AND e.`latest` = w.`episode`
WHERE (:any_cluster = 1 OR w.`cluster` IN (:cluster))
  AND (:any_namespace = 1 OR w.`namespace` IN (:namespace))
  AND (:any_name = 1 OR w.`job_name` IN (:name))
  AND (:any_tenant = 1 OR w.`tenant` IN (:tenant))
  AND (:any_queue = 1 OR w.`queue` IN (:queue))
  AND (:any_kind = 1 OR LOWER(w.`job_kind`) IN (:kind))
  AND (:any_phase = 1 OR w.`phase` IN (:phase))
  AND (:any_sla = 1 OR w.`sla` IN (:sla))
  AND (:any_reason = 1 OR w.`leading_reason` IN (:reason))
  AND (:like = '' OR LOWER(w.`job_name`) LIKE :like OR LOWER(w.`queue`) LIKE :like OR w.`job_uid` LIKE :like)
