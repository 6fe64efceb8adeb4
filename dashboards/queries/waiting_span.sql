-- From when to when there are waits.
SELECT MIN(w.`started_at`) AS `first_at`, MAX(w.`now_at`) AS `now_at`
-- include _waits
LIMIT 1
