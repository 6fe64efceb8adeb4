"""Every metric there is, one line each. A new one is one more line here and a call where the thing happens:

catalogue.records.labels("collector", "object").inc()
"""

from __future__ import annotations

from prometheus_client import GCCollector, PlatformCollector, ProcessCollector

from pipeline.telemetry.metrics import DECLARED, REGISTRY, Metric, counter, gauge, histogram

_WAITS = (0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 900.0)
"""Buckets of the way from the cluster to a visible row: 10 s is what users are promised."""

# fmt: off
# One line each, so that the list reads as a table.

# Collector
watch_events = counter("watch_events_total", "Frames received by watches.", ("kind", "type"), stability="stable")
watch_last_event_age = gauge("watch_last_event_age_seconds", "Time since a watch last received anything, bookmarks included.", ("kind",), stability="stable")
watch_relists = counter("watch_relist_total", "Lists made anew because a watch could not be resumed.", ("kind", "reason"))
watch_forbidden = gauge("watch_forbidden", "Whether the server refuses a kind to us: 1 while it does, else 0.", ("kind",), stability="stable")
watch_resumes = counter("watch_resume_total", "Watches resumed where they had ended.", ("kind",))
spool_bytes = gauge("spool_bytes", "Size of the spool on disk.", ("spool",), stability="stable")
spool_dropped = counter("spool_dropped_total", "Records lost: samples over the limit, torn or flipped bytes.", ("spool", "reason"), stability="stable")

# All stages
records = counter("records_total", "Records that a stage has taken in.", ("stage", "record"), stability="stable")
dead_letters = counter("dead_letters_total", "Items that could not be used and were put aside.", ("stage", "reason"), stability="stable")
errors = counter("errors_total", "Errors logged.", ("stage", "error_type"), stability="stable")
retries = counter("retries_total", "Calls tried again after an error that may pass.", ("error_type",))

# Aggregation
watermark_age = gauge("watermark_age_seconds", "How far log time is behind the clock.", (), stability="stable")
state_keys = gauge("state_keys", "Jobs in the aggregation's state.")

# Shadow scheduler
scheduler_sessions = counter("scheduler_sessions_total", "Sessions of the shadow scheduler; failed ones ended by a fault of ours or of a plug-in.", ("result",))
scheduler_session = histogram("scheduler_session_seconds", "Time of one session of the shadow scheduler.")
scheduler_skipped = counter("scheduler_seconds_skipped_total", "Log seconds with changes for which no session opened, because sessions were slower than log time.")
scheduler_behind = gauge("scheduler_behind", "Whether more of the log is unread than the shadow scheduler takes at once, as 1; after ten seconds of that it goes to the end without sessions.")
scheduler_ahead = gauge("scheduler_log_time_ahead_seconds", "How far log time is ahead of the records that come: while a clock was ahead no session opens. 0 if it is not.")
scheduler_decisions = counter("scheduler_decisions_total", "Decisions that were written to the log.", ("kind",))
scheduler_diverged = counter("scheduler_diverged_total", "Jobs of which the cluster's own scheduler decided otherwise than the shadow.", ("how",))

# Sinks
sink_rows = counter("sink_rows_total", "Rows delivered.", ("sink", "result"), stability="stable")
sink_batch = histogram("sink_batch_seconds", "Time of one load.", ("sink",))
end_to_end = histogram("end_to_end_seconds", "Time from a change in the cluster to its visible row.", buckets=_WAITS, stability="stable")

# The process
build_info = gauge("build_info", "Always 1; the label is the version.", ("version",), stability="stable")
reloads = counter("reloads_total", "Reloads of the settings.", ("result",))
log_lines_held = counter("log_lines_held_total", "Log lines held back because their call site repeated itself.")

# fmt: on

ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)
GCCollector(registry=REGISTRY)


def declared() -> list[Metric]:
    """Every metric of this list."""
    return list(DECLARED)
