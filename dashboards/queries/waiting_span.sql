-- From when to when there are waits. Rows of a batch can be there before the log time of their cluster is: until then only
-- some waits are told of so late, so a cluster's waits end where all that are open reach to.
SELECT MIN(c.`first_at`) AS `first_at`, MAX(c.`now_at`) AS `now_at`
FROM (
  SELECT MIN(w.`started_at`) AS `first_at`,
    COALESCE(MIN(CASE WHEN w.`phase` = 'waiting' THEN w.`now_at` END), MAX(w.`now_at`)) AS `now_at`
  -- include _waits
  GROUP BY w.`cluster`
) c
LIMIT 1
