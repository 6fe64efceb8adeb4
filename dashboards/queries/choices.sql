-- What there is to choose from in filters.
SELECT DISTINCT w.`cluster`, w.`namespace`, w.`tenant`, w.`queue`, w.`job_kind`
FROM `job_wait` w
ORDER BY w.`cluster`, w.`namespace`, w.`tenant`, w.`queue`, w.`job_kind`
LIMIT :limit
