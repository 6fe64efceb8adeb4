-- Broken promises, latest first, from behind a cursor.
SELECT v.*
FROM `v_sla_violation` v
WHERE (:any_cluster = 1 OR v.`cluster` IN (:cluster))
  AND (:any_namespace = 1 OR v.`namespace` IN (:namespace))
  AND (:any_tenant = 1 OR v.`tenant` IN (:tenant))
  AND (:any_queue = 1 OR v.`queue` IN (:queue))
  AND (:any_kind = 1 OR v.`job_kind` IN (:kind))
  AND (:any_name = 1 OR v.`job_name` IN (:name))
  AND (:any_reason = 1 OR v.`reason` IN (:reason))
  AND (:any_state = 1 OR v.`state` IN (:state))
  AND (:like = '' OR LOWER(v.`job_name`) LIKE :like OR LOWER(v.`queue`) LIKE :like OR v.`job_uid` LIKE :like)
  AND (
    :after_uid = ''
    OR v.`violated_at` < :after_at
    OR (
      v.`violated_at` = :after_at
      AND (
        v.`cluster` > :after_cluster
        OR (v.`cluster` = :after_cluster AND v.`job_uid` > :after_uid)
        OR (v.`cluster` = :after_cluster AND v.`job_uid` = :after_uid AND v.`episode` > :after_episode)
      )
    )
  )
ORDER BY v.`violated_at` DESC, v.`cluster`, v.`job_uid`, v.`episode`
LIMIT :limit
