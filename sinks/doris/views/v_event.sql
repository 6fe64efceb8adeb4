CREATE VIEW `v_event` (
  `day` COMMENT 'UTC day on which it was received',
  `cluster` COMMENT 'name of the cluster; NAME@replay for a replay',
  `uid` COMMENT 'uid of the Event',
  `object_version` COMMENT 'resourceVersion of this sight',
  `namespace` COMMENT 'namespace of the Event',
  `regarding_kind` COMMENT 'kind of the object it is about',
  `regarding_namespace` COMMENT 'its namespace',
  `regarding_name` COMMENT 'its name',
  `regarding_uid` COMMENT 'its uid',
  `job_uid` COMMENT 'job that the object belongs to',
  `type` COMMENT 'Normal or Warning',
  `reason` COMMENT 'reason as the reporter writes it',
  `message` COMMENT 'message as the reporter writes it',
  `component` COMMENT 'reporter',
  `count` COMMENT 'occurrences so far',
  `added` COMMENT 'occurrences that this sight adds to the one before; sum this, never count',
  `first_us` COMMENT 'first occurrence, microseconds since 1970',
  `last_us` COMMENT 'newest occurrence, microseconds since 1970',
  `observed_at` COMMENT 'when it was received, UTC'
)
COMMENT 'one sight of a Kubernetes Event, with what it adds to the sight before'
AS
SELECT
  t.`day`, t.`cluster`, t.`uid`, t.`object_version`, t.`namespace`, t.`regarding_kind`, t.`regarding_namespace`,
  t.`regarding_name`, t.`regarding_uid`, t.`job_uid`, t.`type`, t.`reason`, t.`message`, t.`component`, t.`count`,
  -- a count that went backwards was started again by its reporter, so all of it is new
  CASE
    WHEN t.`before` IS NULL OR t.`count` < t.`before` THEN t.`count`
    ELSE t.`count` - t.`before`
  END AS `added`,
  t.`first_us`, t.`last_us`, t.`observed_at`
FROM (
  SELECT
    e.*,
    LAG(e.`count`, 1, NULL) OVER (
      PARTITION BY e.`cluster`, e.`uid` ORDER BY e.`version`, e.`count`, e.`object_version`
    ) AS `before`
  FROM `event` e
) t
