"""The reference page of metrics, generated from what the catalogue declares."""

from __future__ import annotations

from pipeline.telemetry import catalogue

_INTRODUCTION = """\
# Metrics

Each process serves its metrics at `/metrics` of its admin port (`admin.port`). *stable* metrics keep their name, labels and
meaning within a major version; *experimental* ones may change with a note in the changelog. The usual `process_*` and
`python_*` metrics of the Prometheus client come with them.

`stage` is the part that speaks: `collector`, `aggregation`, `sinks`, `dashboards`, or `pipeline` for what they share.
"""


def page() -> str:
    """One table of all metrics, by name."""
    lines = [
        _INTRODUCTION,
        "| metric | type | labels | unit | what it counts | stability |",
        "|---|---|---|---|---|---|",
    ]
    for metric in sorted(catalogue.declared()):
        labels = ", ".join(f"`{label}`" for label in metric.labels) or "-"
        cells = (f"`{metric.name}`", metric.kind, labels, metric.unit or "-", metric.help, metric.stability)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
