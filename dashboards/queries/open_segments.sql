-- What holds each of these jobs now: the open part of its wait, by key.
SELECT s.`cluster`, s.`job_uid`, s.`episode`, s.`reason`, s.`detail`, s.`resource`, s.`nodes`, s.`total_nodes`,
  s.`from_at`
FROM `v_wait_segment` s
WHERE s.`day` IN (:days) AND s.`cluster` IN (:clusters) AND s.`job_uid` IN (:uids) AND s.`to_at` IS NULL
ORDER BY s.`cluster`, s.`job_uid`, s.`episode`
LIMIT :limit
