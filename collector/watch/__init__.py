"""From happenings to the spool: what watches tell becomes records, and the checkpoint follows what is durable.

`intake` gives each happening to the mirror (`collector.kinds`) and keeps, for each watch, the version up to which
everything was given; `scribe` is the one thread that writes; `resume` brings what is known up to the end of the log at
a start; `live` runs one reflector a kind. A replay takes the same way from `intake` on.
"""
