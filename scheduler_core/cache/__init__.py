"""The cluster as the record log tells it: objects in, facts for a session out.

`reading` makes one object of each kind into facts (with `relating` for terms about other pods), `mirror` keeps what there
is and changes with every record, `groups` finds groups by name. `changes` is the mirror's journal, from which `following`
keeps a snapshot in step. All of it is pure: no log, no disk, no clock; who reads the log and when a session opens is
decided in `scheduler_core.shadow`. Of the scheduler only `model` is known here.
"""
