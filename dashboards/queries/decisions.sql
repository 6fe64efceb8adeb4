-- The last word of a scheduler about a job and each of its tasks, at or before a moment: the newest row of each thing that
-- can be said. What holds of them is worked out by the reader (`dashboards/decisions.py`).
SELECT
  d.`source`, d.`policy`, d.`session_at`, d.`kind`, d.`task`, d.`node`, d.`reason`, d.`detail`, d.`resource`,
  d.`failure_sets`, d.`helps`, d.`nodes`, d.`total_nodes`, d.`message`
FROM (
  SELECT
    v.*,
    ROW_NUMBER() OVER (
      PARTITION BY v.`source`, v.`task`,
        CASE WHEN v.`kind` = 'diverged' THEN 1 WHEN v.`kind` = 'enqueue' AND v.`reason` IS NULL THEN 2 ELSE 3 END
      ORDER BY v.`session_at` DESC, v.`id`
    ) AS `place`
  FROM `v_scheduler_decision` v
  WHERE v.`day` >= :from_day AND v.`day` <= :to_day AND v.`cluster` = :cluster AND v.`job_uid` = :uid
    AND v.`source` <> 'simulate' AND v.`kind` <> 'close' AND v.`kind` <> 'evict' AND v.`session_at` <= :until_at
) d
WHERE d.`place` = 1
ORDER BY CASE WHEN d.`task` IS NULL THEN 0 ELSE 1 END, d.`session_at` DESC, d.`task`, d.`kind`, d.`source`
LIMIT :limit
