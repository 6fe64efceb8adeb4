-- The waits that are asked for, by whose they are.
FROM `v_job_wait` w
WHERE (:any_cluster = 1 OR w.`cluster` IN (:cluster))
  AND (:any_namespace = 1 OR w.`namespace` IN (:namespace))
  AND (:any_tenant = 1 OR w.`tenant` IN (:tenant))
  AND (:any_queue = 1 OR w.`queue` IN (:queue))
  AND (:any_kind = 1 OR LOWER(w.`job_kind`) IN (:kind))
