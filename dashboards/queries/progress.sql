-- How far each stage of each cluster has come; few rows, so that every answer can say how fresh it is.
SELECT p.`cluster`, p.`stage`, p.`log_at`, p.`loaded_at`
FROM `progress` p
ORDER BY p.`cluster`, p.`stage`
LIMIT 10000
