-- Waiting by reason as a curve, in as few rows as it has corners: where parts begin, the curve rises by their weight, where
-- they end it falls. `skew_ms` is how far into the bucket that was, weighted, so that `dashboards.curve` gets exact sums.
-- include _parts_in_range
SELECT t.`reason`, t.`edge_ms` DIV :bucket_ms AS `bucket`, SUM(t.`weight`) AS `slope`,
  SUM(t.`weight` * MOD(t.`edge_ms`, :bucket_ms)) AS `skew_ms`
FROM (
  SELECT p.`reason`, p.`begin_ms` AS `edge_ms`, p.`weight` FROM p
  UNION ALL
  SELECT p.`reason`, p.`end_ms` AS `edge_ms`, -p.`weight` AS `weight` FROM p
) t
GROUP BY t.`reason`, t.`edge_ms` DIV :bucket_ms
ORDER BY `bucket`, t.`reason`
LIMIT :limit
