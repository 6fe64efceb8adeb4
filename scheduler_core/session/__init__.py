"""The framework of a session: what plugins may say, how their answers are combined, and what can be done and undone.

`plugin` is the seam: every extension point as a method of one class. `points` names the points with their flags,
`combine` has each rule of aggregation once, `session` holds a session's state, `statement` the transaction. `orders`,
`eviction`, `dry_run`, `judging` and `placing` are what actions are made of; `accounts`, `queue_tree` and `queue_keys` what
plugins of quotas are; `refusals`, `helps`, `phases` and `texts` say what came out. No rule of a single plugin and no action
belongs here. Looks only at `model` and `pipeline.records`.
"""
