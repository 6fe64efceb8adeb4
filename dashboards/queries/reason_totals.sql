-- Waiting by reason in a range, and the same by reason and resource, from the parts of waits.
-- include _parts_in_range
SELECT p.`reason`, p.`resource`, GROUPING(p.`resource`) AS `whole`, COUNT(DISTINCT p.`job_uid`) AS `jobs`,
  SUM(p.`weight` * (p.`end_ms` - p.`begin_ms`)) AS `ms`
FROM p
GROUP BY GROUPING SETS ((p.`reason`), (p.`reason`, p.`resource`))
ORDER BY `ms` DESC, p.`reason`, p.`resource`
LIMIT :limit
