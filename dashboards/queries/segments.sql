-- The parts of a job's waits, by key; episode 0 stands for all of them.
SELECT
  s.`episode`, s.`n`, s.`reason`, s.`detail`, s.`resource`, s.`from_at`, s.`to_at`, s.`ms`, s.`nodes`, s.`total_nodes`,
  s.`message`, s.`also`, s.`evidence`, s.`estimated`
FROM `v_wait_segment` s
WHERE s.`day` = :day AND s.`cluster` = :cluster AND s.`job_uid` = :uid AND (:episode = 0 OR s.`episode` = :episode)
ORDER BY s.`episode`, s.`n`
LIMIT :limit
