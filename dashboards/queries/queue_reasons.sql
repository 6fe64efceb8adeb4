-- What open waits of each queue waited for, the longest first.
SELECT s.`queue`, s.`tenant`, s.`reason`, s.`detail`, s.`resource`, SUM(s.`ms`) AS `ms`
FROM `v_wait_segment` s
JOIN `job_wait` w
  ON w.`day` = s.`day` AND w.`cluster` = s.`cluster` AND w.`job_uid` = s.`job_uid` AND w.`episode` = s.`episode`
WHERE w.`phase` = 'waiting'
  AND (:any_cluster = 1 OR s.`cluster` IN (:cluster))
  AND (:any_namespace = 1 OR s.`namespace` IN (:namespace))
  AND (:any_tenant = 1 OR s.`tenant` IN (:tenant))
  AND (:any_queue = 1 OR s.`queue` IN (:queue))
  AND (:any_kind = 1 OR LOWER(s.`job_kind`) IN (:kind))
GROUP BY s.`queue`, s.`tenant`, s.`reason`, s.`detail`, s.`resource`
ORDER BY `ms` DESC, s.`queue`, s.`tenant`, s.`reason`, s.`detail`, s.`resource`
LIMIT :limit
