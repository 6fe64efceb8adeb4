CREATE VIEW `v_pending_reason_hour` (
  `cluster` COMMENT 'name of the cluster; NAME@replay for a replay',
  `hour` COMMENT 'begin of the hour, UTC',
  `tenant` COMMENT 'whose jobs they are',
  `namespace` COMMENT 'namespace of the jobs',
  `queue` COMMENT 'queue that the jobs name, empty if none',
  `reason` COMMENT 'code of the reason',
  `resource` COMMENT 'resource that is short, empty if none',
  `jobs` COMMENT 'jobs that waited because of it in this hour',
  `wait_ms` COMMENT 'their waiting in this hour, summed over jobs',
  `gpu_ms` COMMENT 'their waiting times the GPUs that each asks for'
)
COMMENT 'waiting by hour, queue and reason, summed over jobs; open waits are at most a minute old'
AS
SELECT
  h.`cluster`, h.`hour`, h.`tenant`, h.`namespace`, h.`queue`, h.`reason`, h.`resource`,
  COUNT(DISTINCT h.`job_uid`) AS `jobs`, SUM(h.`wait_ms`) AS `wait_ms`, SUM(h.`gpu_ms`) AS `gpu_ms`
FROM `wait_reason_hour` h
LEFT JOIN `progress` p ON p.`cluster` = h.`cluster` AND p.`stage` = 'aggregation'
WHERE p.`version` IS NULL OR h.`version` DIV 17592186044416 >= p.`version` DIV 17592186044416
GROUP BY h.`cluster`, h.`hour`, h.`tenant`, h.`namespace`, h.`queue`, h.`reason`, h.`resource`
