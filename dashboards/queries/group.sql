-- The API group of a job's own object, which tells apart kinds of one name.
SELECT o.`api_group`
FROM `object_change` o
WHERE o.`day` >= :from_day AND o.`cluster` = :cluster AND o.`uid` = :uid AND o.`api_group` IS NOT NULL
ORDER BY o.`observed_at` DESC, o.`object_version` DESC
LIMIT 1
