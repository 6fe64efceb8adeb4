"""The rows of the judged tables, one file a table, made anew from a job's state whenever something changed.

Values are absolute, so no row depends on an earlier one, and sums over jobs are left to SQL. `identity` has the columns
that all share; `episode_rows` puts the tables together and writes only what differs. Pure; looks at `lifecycle`,
`attribution`, `sla` and `operators`.
"""
