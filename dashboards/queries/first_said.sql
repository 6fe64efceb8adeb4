-- When these words about a job were first said: by an Event, by a scheduler that decided, or in a condition.
SELECT s.`said_at`
FROM (
  SELECT e.`observed_at` AS `said_at`
  FROM `event` e
  WHERE e.`day` >= :from_day AND e.`cluster` = :cluster AND e.`job_uid` = :uid AND e.`message` = :message
  UNION ALL
  SELECT d.`session_at` AS `said_at`
  FROM `decision` d
  WHERE d.`day` >= :from_day AND d.`cluster` = :cluster AND d.`job_uid` = :uid AND d.`message` = :message
  UNION ALL
  SELECT o.`observed_at` AS `said_at`
  FROM `object_change` o
  WHERE o.`day` >= :from_day AND o.`cluster` = :cluster AND o.`job_uid` = :uid
    AND INSTR(CAST(o.`summary` AS STRING), :quoted) > 0
) s
ORDER BY s.`said_at`
LIMIT 1
