-- When an Event about a job first said these words.
SELECT e.`observed_at`
FROM `event` e
WHERE e.`day` >= :from_day AND e.`cluster` = :cluster AND e.`job_uid` = :uid AND e.`message` = :message
ORDER BY e.`observed_at`
LIMIT 1
