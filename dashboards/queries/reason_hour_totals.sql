-- Waiting by reason in a range, and the same by reason and resource, from the sums of hours.
SELECT h.`reason`, h.`resource`, GROUPING(h.`resource`) AS `whole`, COUNT(DISTINCT h.`job_uid`) AS `jobs`,
  SUM(CASE WHEN :unit = 'gpus' THEN h.`gpu_ms` ELSE h.`wait_ms` END) AS `ms`
FROM `wait_reason_hour` h
LEFT JOIN `progress` g ON g.`cluster` = h.`cluster` AND g.`stage` = 'aggregation'
WHERE (g.`version` IS NULL OR h.`version` DIV 17592186044416 >= g.`version` DIV 17592186044416)
  AND h.`hour` >= :from_at AND h.`hour` < :to_at
  AND (:any_cluster = 1 OR h.`cluster` IN (:cluster))
  AND (:any_namespace = 1 OR h.`namespace` IN (:namespace))
  AND (:any_tenant = 1 OR h.`tenant` IN (:tenant))
  AND (:any_queue = 1 OR h.`queue` IN (:queue))
  AND (:any_kind = 1 OR h.`job_kind` IN (:kind))
  AND (:any_reason = 1 OR h.`reason` IN (:reason))
GROUP BY GROUPING SETS ((h.`reason`), (h.`reason`, h.`resource`))
ORDER BY `ms` DESC, h.`reason`, h.`resource`
LIMIT :limit
