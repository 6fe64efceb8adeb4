-- What a scheduler said would help a job, newest session first.
SELECT d.`session_at`, d.`reason`, d.`helps`
FROM `v_scheduler_decision` d
WHERE d.`day` >= :from_day AND d.`day` <= :to_day AND d.`cluster` = :cluster AND d.`job_uid` = :uid
  AND d.`kind` = 'attribution' AND d.`session_at` <= :until_at AND d.`helps` IS NOT NULL
ORDER BY d.`session_at` DESC, d.`id`
LIMIT :limit
