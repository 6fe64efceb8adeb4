"""The shadow: sessions over the mirrored cluster, whose decisions explain why jobs wait and change nothing.

Here belong when a session opens (`machine`), what of its decisions is new (`said`), where the cluster's own scheduler
decides otherwise (`diverging`), how decisions become records (`records`), the snapshots from which it goes on and from
which the past is asked (`snapshots`, `travel`), and the loop that reads the log and appends to it (`runner`). What a
session decides is not here, nor how the cluster is mirrored (`scheduler_core.cache`).

`machine`, `said`, `diverging` and `records` are pure: the same log gives the same decisions. Only `runner`, `snapshots`
and `travel` know the log and the disk.
"""
