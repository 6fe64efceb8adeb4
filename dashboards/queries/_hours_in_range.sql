-- The sums of hours of a range. As in the views, only rows of the newest generation (version = generation << 44 | n) count.
FROM `wait_reason_hour` h
LEFT JOIN `progress` g ON g.`cluster` = h.`cluster` AND g.`stage` = 'aggregation'
WHERE (g.`version` IS NULL OR h.`version` DIV 17592186044416 >= g.`version` DIV 17592186044416)
  AND h.`hour` >= :from_at AND h.`hour` < :to_at
  AND (:any_cluster = 1 OR h.`cluster` IN (:cluster))
  AND (:any_namespace = 1 OR h.`namespace` IN (:namespace))
  AND (:any_tenant = 1 OR h.`tenant` IN (:tenant))
  AND (:any_queue = 1 OR h.`queue` IN (:queue))
  AND (:any_kind = 1 OR LOWER(h.`job_kind`) IN (:kind))
  AND (:any_reason = 1 OR h.`reason` IN (:reason))
