"""From happenings to the spool: what watches tell becomes records, and the checkpoint follows what is durable.

`live` runs one reflector a kind, all of which tell one `inbox`. `follower` gives each happening to the mirror
(`collector.kinds`) and keeps, for each watch, the version up to which everything was given; `scribe` is the one hand that
writes; `resume` brings what is known up to the end of the log at a start; `reports` says how watches are doing. A replay
takes the same way from `follower` on.
"""
