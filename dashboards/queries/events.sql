-- Sights of the Events about a job, newest first.
SELECT
  e.`uid`, e.`reason`, e.`message`, e.`component`, e.`count`, e.`last_us`, e.`observed_at`, e.`regarding_kind`,
  e.`regarding_namespace`, e.`regarding_name`
FROM `event` e
WHERE e.`day` >= :from_day AND e.`cluster` = :cluster AND e.`job_uid` = :uid
ORDER BY e.`observed_at` DESC, e.`uid`, e.`object_version` DESC
LIMIT :limit
