-- Waiting by hour and reason, for ranges in which a minute does not show.
SELECT h.`hour`, h.`reason`, SUM(CASE WHEN :unit = 'gpus' THEN h.`gpu_ms` ELSE h.`wait_ms` END) AS `ms`
-- include _hours_in_range
GROUP BY h.`hour`, h.`reason`
ORDER BY h.`hour`, h.`reason`
LIMIT :limit
