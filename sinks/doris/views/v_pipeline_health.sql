CREATE VIEW `v_pipeline_health` (
  `cluster` COMMENT 'name of the cluster; NAME@replay for a replay',
  `stage` COMMENT 'collector, aggregation or loader',
  `log_at` COMMENT 'log time that the stage has worked up to, UTC',
  `loaded_at` COMMENT 'clock of the loader when it wrote that, UTC',
  `behind_ms` COMMENT 'log time behind the stage of the cluster that is furthest',
  `age_ms` COMMENT 'age of the data when it was loaded: loaded_at - log_at; large in a replay',
  `dead_letters` COMMENT 'inputs of the cluster that this stage could not understand, as far as they are kept'
)
COMMENT 'how far each stage has come'
AS
SELECT
  p.`cluster`, p.`stage`, p.`log_at`, p.`loaded_at`,
  MILLISECONDS_DIFF(MAX(p.`log_at`) OVER (PARTITION BY p.`cluster`), p.`log_at`) AS `behind_ms`,
  MILLISECONDS_DIFF(p.`loaded_at`, p.`log_at`) AS `age_ms`,
  COALESCE(d.`dead_letters`, 0) AS `dead_letters`
FROM `progress` p
LEFT JOIN (
  SELECT l.`cluster`, l.`stage`, COUNT(*) AS `dead_letters` FROM `dead_letter` l GROUP BY l.`cluster`, l.`stage`
) d ON d.`cluster` = p.`cluster` AND d.`stage` = p.`stage`
