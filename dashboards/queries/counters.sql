-- The counters of every stage as they stood last.
SELECT m.`cluster`, m.`stage`, m.`name`, MAX_BY(m.`value`, m.`minute`) AS `value`
FROM `pipeline_minute` m
WHERE m.`day` >= :from_day
GROUP BY m.`cluster`, m.`stage`, m.`name`
ORDER BY m.`cluster`, m.`stage`, m.`name`
LIMIT :limit
