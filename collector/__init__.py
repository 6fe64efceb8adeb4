"""Stage 1: what a cluster says, made into records on disk.

Watches and lists (`watch`), what is kept of each kind and whose job it is (`kinds`), the durable spool (`spool`), and
recorded clusters as a source (`replay`). Imports `pipeline` only; the other stages read what it writes to the log.
"""
