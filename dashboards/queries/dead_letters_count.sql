-- How many inputs could not be understood, as far as they are kept.
SELECT COUNT(*) AS `total`
FROM `dead_letter` d
LIMIT 1
