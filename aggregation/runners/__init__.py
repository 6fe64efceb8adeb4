"""What turns the log's records into rows: the machine of one bucket, and the loop that feeds 256 of them.

`bucket` is pure and is the same in every runner; `embedded` is one thread and one SQLite file over the spool's segments.
Operators know nothing of either. No judgement lives here.
"""
