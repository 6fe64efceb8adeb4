-- When these words about a job were first said: by an Event, or by a scheduler that decided.
SELECT s.`said_at`
FROM (
  SELECT e.`observed_at` AS `said_at`
  FROM `event` e
  WHERE e.`day` >= :from_day AND e.`cluster` = :cluster AND e.`job_uid` = :uid AND e.`message` = :message
  UNION ALL
  SELECT d.`session_at` AS `said_at`
  FROM `decision` d
  WHERE d.`day` >= :from_day AND d.`cluster` = :cluster AND d.`job_uid` = :uid AND d.`message` = :message
) s
ORDER BY s.`said_at`
LIMIT 1
