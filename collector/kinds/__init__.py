"""What is watched, whose job an object is, and what its job cannot know: from the cluster's words to records.

`catalog` has a file for each kind: where the API serves it, when it is listed, what of it is kept, which links lead up
to its job. `mirror` is the machine that turns what lists and watches say into records; the rest are its parts:
`projection` (an object's bytes to what is kept of it) and `truncation`, `events`, `stages` (which kind waits for which),
`lists` (a list compared with what is known), `intake` (a state compared with the last), `reports` (events, held for what
they are about), `identity` and `lineage` (links up to the job), `placement` (nodes that a pod wants), `queues` (queues
and tenants), `facts` (who is told of what), `known` (what the collector remembers), `writing` (records). All of it is
pure: no clock, no disk, no network; time comes with what happens. Not here: talking to the API server
(`collector.watch`, `pipeline.kubeapi`), and what a wait is (aggregation).
"""
