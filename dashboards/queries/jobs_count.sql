-- How many jobs the list of jobs has in all.
SELECT COUNT(*) AS `total`
-- include _latest_waits
LIMIT 1
