"""The collector's disk: a log of records, a checkpoint that follows it, and what could not be understood.

`Spool` holds the three together under one rule: the checkpoint moves only after the records before it are durable.
`checkpoint` is `collector.db`: versions of the watches, objects known, gaps open, whose cluster this is. `deadletter`
keeps input that no record could be made of. `command` looks into all of it. How segments lie on disk belongs to
`pipeline.log`; what a record is, to `pipeline.records`; what is known of an object, to `collector.kinds`.
"""
