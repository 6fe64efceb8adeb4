-- The parts of waits that overlap a range, cut to it, in milliseconds from its begin, each with what it counts for.
WITH p AS (
  SELECT
    s.`reason`,
    COALESCE(s.`resource`, '') AS `resource`,
    s.`job_uid`,
    MILLISECONDS_DIFF(GREATEST(s.`from_at`, CAST(:from_at AS DATETIME(3))), CAST(:from_at AS DATETIME(3))) AS `begin_ms`,
    MILLISECONDS_DIFF(
      LEAST(COALESCE(s.`to_at`, s.`now_at`), CAST(:to_at AS DATETIME(3))), CAST(:from_at AS DATETIME(3))
    ) AS `end_ms`,
    CASE WHEN :unit = 'gpus' THEN COALESCE(w.`gpus`, 0) ELSE 1 END AS `weight`
  FROM `v_wait_segment` s
  JOIN `job_wait` w
    ON w.`day` = s.`day` AND w.`cluster` = s.`cluster` AND w.`job_uid` = s.`job_uid` AND w.`episode` = s.`episode`
  WHERE s.`from_at` < :to_at AND COALESCE(s.`to_at`, s.`now_at`) > :from_at
    AND (:any_cluster = 1 OR s.`cluster` IN (:cluster))
    AND (:any_namespace = 1 OR s.`namespace` IN (:namespace))
    AND (:any_tenant = 1 OR s.`tenant` IN (:tenant))
    AND (:any_queue = 1 OR s.`queue` IN (:queue))
    AND (:any_kind = 1 OR LOWER(s.`job_kind`) IN (:kind))
    AND (:any_reason = 1 OR s.`reason` IN (:reason))
)
