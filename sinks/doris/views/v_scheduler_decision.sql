CREATE VIEW `v_scheduler_decision` (
  `day` COMMENT 'UTC day of the session',
  `cluster` COMMENT 'name of the cluster; NAME@replay for a replay',
  `id` COMMENT 'identity of the decision',
  `source` COMMENT 'shadow, live or simulate',
  `policy` COMMENT 'name of the policy',
  `session_at` COMMENT 'log second of the session, UTC',
  `kind` COMMENT 'attribution, enqueue, bind, pipeline, evict, discard, diverged or close',
  `namespace` COMMENT 'namespace of the job',
  `job_kind` COMMENT 'kind of the job',
  `job_name` COMMENT 'name of the job',
  `job_uid` COMMENT 'uid of the object of the job',
  `task` COMMENT 'pod; null for what is said of the whole job',
  `node` COMMENT 'node',
  `reason` COMMENT 'code of the reason',
  `detail` COMMENT 'detail of the reason',
  `resource` COMMENT 'resource that is short',
  `failure_sets` COMMENT 'nodes by the set of filters they failed, JSON',
  `helps` COMMENT 'smallest changes that would help, JSON',
  `nodes` COMMENT 'nodes for which the reason holds',
  `total_nodes` COMMENT 'nodes that were looked at',
  `message` COMMENT 'what the scheduler said, unchanged'
)
COMMENT 'what a scheduler decided, and why a task did not fit'
AS
SELECT
  d.`day`, d.`cluster`, d.`id`, d.`source`, d.`policy`, d.`session_at`, d.`kind`, d.`namespace`, d.`job_kind`,
  d.`job_name`, d.`job_uid`, d.`task`, d.`node`, d.`reason`, d.`detail`, d.`resource`, d.`failure_sets`, d.`helps`,
  d.`nodes`, d.`total_nodes`, d.`message`
FROM `decision` d
