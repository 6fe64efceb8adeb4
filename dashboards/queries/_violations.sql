-- The broken promises that are asked for.
FROM `v_sla_violation` v
WHERE (:any_cluster = 1 OR v.`cluster` IN (:cluster))
  AND (:any_namespace = 1 OR v.`namespace` IN (:namespace))
  AND (:any_tenant = 1 OR v.`tenant` IN (:tenant))
  AND (:any_queue = 1 OR v.`queue` IN (:queue))
  AND (:any_kind = 1 OR LOWER(v.`job_kind`) IN (:kind))
  AND (:any_name = 1 OR v.`job_name` IN (:name))
  AND (:any_reason = 1 OR v.`reason` IN (:reason))
  AND (:any_state = 1 OR v.`state` IN (:state))
  AND (:like = '' OR LOWER(v.`job_name`) LIKE :like OR LOWER(v.`queue`) LIKE :like OR v.`job_uid` LIKE :like)
