"""Promises: which one applies to a wait, when it breaks, and how the wait stands against it.

The arithmetic is `pipeline.records.sla`, shared with the scheduler. Here it meets episodes. Pure; looks at `lifecycle`.
"""
