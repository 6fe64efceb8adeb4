"""What a process says about itself: log lines and metrics.

Here live the way lines are written (`logs`), what must never be in one (`redact`), what happens when one repeats (`repeats`),
how metrics are declared (`metrics`) and the one list of all of them (`catalogue`). What a stage says, and when, is the
stage's own business. This room looks at `config` for its settings and at nothing above it.
"""
