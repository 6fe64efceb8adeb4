"""From records to what is known of a job: its pods, groups, job object and admission, and the episodes it waits in.

Each kind of object has a module that takes its records and notes what later rooms need, no more; `counts` adds up pods,
`minimum` says how many must be placed, `episodes` begins and ends waits. Why a job waits is not decided here; of
texts only a queue's refusals are told from its chatter. Pure; looks at `operators` and `messages` only.
"""
