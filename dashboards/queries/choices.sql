-- What there is to choose from in filters.
SELECT DISTINCT w.`cluster`, w.`namespace`, w.`tenant`, w.`queue`
FROM `job_wait` w
LIMIT :limit
