-- One row a job, its latest wait, in one of four orders, from behind a cursor.
--
-- Numbers to sort by are made so that smaller comes first: `:direction` is 1 or -1. Open waits are measured at `:until_at`,
-- the log time of the first page, so that a job does not pass the cursor by growing.
SELECT s.*
FROM (
  SELECT
    l.*,
    COALESCE(
      :direction * CASE :sort
        WHEN 'wait' THEN
          CASE
            WHEN l.`phase` = 'waiting'
              THEN MILLISECONDS_DIFF(LEAST(l.`now_at`, CAST(:until_at AS DATETIME(3))), l.`started_at`)
            ELSE l.`wait_ms`
          END
        WHEN 'created' THEN MILLISECONDS_DIFF(l.`created_at`, '1970-01-01 00:00:00.000')
        WHEN 'deadline' THEN MILLISECONDS_DIFF(l.`deadline_at`, '1970-01-01 00:00:00.000')
        ELSE 0
      END,
      9007199254740991
    ) AS `sort_key`,
    CASE WHEN :sort = 'name' THEN l.`job_name` ELSE '' END AS `sort_text`
  FROM (
    SELECT w.*, e.`episodes`
    -- include _latest_waits
  ) l
) s
WHERE :after_uid = ''
  OR s.`sort_key` > :after_key
  OR (
    s.`sort_key` = :after_key
    AND (
      (:direction = 1 AND s.`sort_text` > :after_text)
      OR (:direction = -1 AND s.`sort_text` < :after_text)
      OR (
        s.`sort_text` = :after_text
        AND (s.`cluster` > :after_cluster OR (s.`cluster` = :after_cluster AND s.`job_uid` > :after_uid))
      )
    )
  )
ORDER BY
  s.`sort_key`,
  CASE WHEN :direction = 1 THEN s.`sort_text` END,
  CASE WHEN :direction = -1 THEN s.`sort_text` END DESC,
  s.`cluster`,
  s.`job_uid`
LIMIT :limit
