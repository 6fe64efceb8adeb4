-- Broken promises, latest first, from behind a cursor.
SELECT v.*
-- include _violations
  AND (
    :after_uid = ''
    OR v.`violated_at` < :after_at
    OR (
      v.`violated_at` = :after_at
      AND (
        v.`cluster` > :after_cluster
        OR (v.`cluster` = :after_cluster AND v.`job_uid` > :after_uid)
        OR (v.`cluster` = :after_cluster AND v.`job_uid` = :after_uid AND v.`episode` > :after_episode)
      )
    )
  )
ORDER BY v.`violated_at` DESC, v.`cluster`, v.`job_uid`, v.`episode`
LIMIT :limit
