-- Waiting by reason in a range, and the same by reason and resource, from the sums of hours.
SELECT h.`reason`, h.`resource`, GROUPING(h.`resource`) AS `whole`, COUNT(DISTINCT h.`job_uid`) AS `jobs`,
  SUM(CASE WHEN :unit = 'gpus' THEN h.`gpu_ms` ELSE h.`wait_ms` END) AS `ms`
-- include _hours_in_range
GROUP BY GROUPING SETS ((h.`reason`), (h.`reason`, h.`resource`))
ORDER BY `ms` DESC, h.`reason`, h.`resource`
LIMIT :limit
