"""The shadow: sessions over the mirrored cluster, whose decisions explain why jobs wait and change nothing.

Here belong when a session opens (`machine`, with its deciders `volcano` and `others`), what of its decisions is new
(`said`), where the cluster's own scheduler decides otherwise (`diverging`), which figures are told by the minute
(`figures`), how decisions become records (`records`), the snapshots from which it goes on and from which the past is asked
(`snapshots`, `travel`), and the loop that reads the log and appends to it (`runner`). What a session decides is not here,
nor how the cluster is mirrored (`scheduler_core.cache`).

All are pure, so that the same log gives the same decisions, but for four: `runner`, `snapshots` and `travel` know the log
and the disk, and `building` reads the policy file.
"""
