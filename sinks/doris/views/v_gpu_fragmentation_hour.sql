CREATE VIEW `v_gpu_fragmentation_hour` (
  `cluster` COMMENT 'name of the cluster; NAME@replay for a replay',
  `hour` COMMENT 'begin of the hour, UTC',
  `pool` COMMENT 'pool of the nodes, empty if none of the labels that name one is there',
  `nodes` COMMENT 'open nodes with GPUs, on average over the hour',
  `gpus` COMMENT 'their GPUs, on average',
  `gpus_free` COMMENT 'GPUs of them that no pod holds, on average',
  `gpus_free_whole` COMMENT 'free GPUs on nodes of which no GPU is held, on average',
  `gpus_closed` COMMENT 'GPUs of nodes that are cordoned or not ready, on average',
  `fragmentation_2` COMMENT 'share of the free GPUs that pods with 2 GPUs cannot use, 0 to 1; null if none was free',
  `fragmentation_4` COMMENT 'the same for pods with 4 GPUs',
  `fragmentation_8` COMMENT 'the same for pods with 8 GPUs',
  `ms` COMMENT 'how much of the hour these averages are of'
)
COMMENT 'GPUs by hour and pool, and how much of the free ones lies in pieces that are too small; of the open hour up to now'
AS
SELECT
  h.`cluster`, h.`hour`, h.`pool`,
  SUM(h.`here` * h.`ms`) / NULLIF(MAX(h.`known_ms`), 0) AS `nodes`,
  SUM(h.`here` * h.`gpus` * h.`ms`) / NULLIF(MAX(h.`known_ms`), 0) AS `gpus`,
  SUM(h.`free` * h.`ms`) / NULLIF(MAX(h.`known_ms`), 0) AS `gpus_free`,
  SUM(CASE WHEN h.`free` = h.`gpus` THEN h.`free` ELSE 0 END * h.`ms`) / NULLIF(MAX(h.`known_ms`), 0) AS `gpus_free_whole`,
  SUM((1 - h.`here`) * h.`gpus` * h.`ms`) / NULLIF(MAX(h.`known_ms`), 0) AS `gpus_closed`,
  SUM(h.`free` % 2 * h.`ms`) / NULLIF(SUM(h.`free` * h.`ms`), 0) AS `fragmentation_2`,
  SUM(h.`free` % 4 * h.`ms`) / NULLIF(SUM(h.`free` * h.`ms`), 0) AS `fragmentation_4`,
  SUM(h.`free` % 8 * h.`ms`) / NULLIF(SUM(h.`free` * h.`ms`), 0) AS `fragmentation_8`,
  MAX(h.`known_ms`) AS `ms`
FROM (
  -- a row holds until the next of its node; everything is told anew at the begin of each hour
  SELECT
    t.`cluster`, t.`hour`, t.`pool`, t.`gpus`,
    CASE WHEN t.`open` THEN 1 ELSE 0 END AS `here`,
    CASE WHEN t.`open` THEN t.`gpus_free` ELSE 0 END AS `free`,
    GREATEST(
      MILLISECONDS_DIFF(LEAST(COALESCE(t.`next_at`, t.`hour_end`), COALESCE(p.`log_at`, t.`hour_end`)), t.`minute`), 0
    ) AS `ms`,
    GREATEST(MILLISECONDS_DIFF(LEAST(t.`hour_end`, COALESCE(p.`log_at`, t.`hour_end`)), t.`first_at`), 0) AS `known_ms`
  FROM (
    SELECT
      n.`cluster`, n.`minute`, n.`pool`, n.`open`, n.`gpus`, n.`gpus_free`, DATE_TRUNC(n.`minute`, 'hour') AS `hour`,
      DATE_ADD(DATE_TRUNC(n.`minute`, 'hour'), INTERVAL 1 HOUR) AS `hour_end`,
      MIN(n.`minute`) OVER (PARTITION BY n.`cluster`, DATE_TRUNC(n.`minute`, 'hour')) AS `first_at`,
      LEAD(n.`minute`, 1, NULL) OVER (
        PARTITION BY n.`cluster`, n.`node`, DATE_TRUNC(n.`minute`, 'hour') ORDER BY n.`minute`
      ) AS `next_at`
    FROM `node_minute` n
  ) t
  LEFT JOIN `progress` p ON p.`cluster` = t.`cluster` AND p.`stage` = 'loader'
  WHERE t.`gpus` > 0
) h
GROUP BY h.`cluster`, h.`hour`, h.`pool`
