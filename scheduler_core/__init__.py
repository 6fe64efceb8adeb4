"""The scheduler core: an embedded batch scheduler that decides what Volcano would decide, and says why it refused.

`model` holds what a session works on: the columnar node table, tasks interned into classes, jobs, queues, amounts.
`session` is the framework: extension points, votes, orders, victims, the statement that can be undone, the choice of a
node, attribution. `actions` and `plugins` are two families, one file each, that know the session and not each other.
`tiers` reads the policy file (Volcano's own), `scheduling` runs one session, `decisions` turns it into records, `figures`
reads off it what queues and nodes have. `foreign` explains pods of other schedulers.

All of that is pure: a snapshot, a policy and the time go in, a session with its decisions comes out. Same input, same
decisions, whatever the order of the input. It talks to no cluster, keeps no file and reads no clock; of the ground floor
it knows `pipeline.records`, `pipeline.errors`, `pipeline.extensions` and the YAML reader and word suggestions of
`pipeline.config`.

Around it `cache` mirrors the cluster from the record log and `shadow` opens sessions over it; `settings`, `app` and
`command` make a stage of them. Only those touch the log and the process. No stage is imported.
"""
