-- How many broken promises the list has in all.
SELECT COUNT(*) AS `total`
-- include _violations
LIMIT 1
