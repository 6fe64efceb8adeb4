"""Every command of the product in one line each, and the help made of them without importing any.

A command shows up when its entry point is installed; this list says under which heading, in which order, in which words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pipeline.extensions import Extension

PROGRAM = "kube-collector"
ABOUT = "Says why a job on a shared GPU cluster waits, for how long because of what, and whether its promise is kept."


class Line(NamedTuple):
    """One command: its name, the heading it stands under, what it does."""

    name: str
    group: str
    help: str


GROUPS = {"ask": "Ask", "run": "Run", "operate": "Operate"}

COMMANDS = (
    Line("why", "ask", "Say why a job waits: for how long because of what, against which promise, what would help."),
    Line("jobs", "ask", "List jobs and their waits, or show one."),
    Line("queues", "ask", "List queues: how many jobs wait, how long, because of what."),
    Line("violations", "ask", "List broken promises."),
    Line("reasons", "ask", "Sum up waiting time by reason."),
    Line("explain", "ask", "Say what a scheduler's message means: its reasons and their counts."),
    Line("simulate", "ask", "Compare scheduling policies on a recording or a trace."),
    Line("up", "run", "Run the whole pipeline in one process."),
    Line("demo", "run", "Replay a recorded cluster through the whole pipeline, page included."),
    Line("collect", "run", "Run the collector: from the cluster to the spool."),
    Line("aggregate", "run", "Run the aggregation: from the spool to judged waits."),
    Line("sink", "run", "Run the loader: records and judged waits into Doris."),
    Line("dash", "run", "Run the page and the HTTP API."),
    Line("schedule", "run", "Run the scheduler core, watching or binding."),
    Line("doctor", "operate", "Check settings, connections and disk, with cause and fix for each failure."),
    Line("config", "operate", "Check the settings, show where each value comes from, print their schema or reference."),
    Line("schema", "operate", "Show or apply the tables that the database lacks."),
    Line("tap", "operate", "Print live records as they pass."),
    Line("top", "operate", "Show live rates, lag and freshness of every stage."),
    Line("state", "operate", "Show what the aggregation knows about a job."),
    Line("spool", "operate", "Look into the spool on disk, check it and mend it."),
    Line("record", "operate", "Record what a cluster sends, for `replay` and `up --replay`."),
    Line("replay", "operate", "Write a recording to the spool, as if the cluster were watched."),
    Line("alerts", "operate", "Try a channel, list and silence alerts, send failed ones again."),
    Line("rbac", "operate", "Print the least role that the settings need."),
    Line("doris-local", "operate", "Run the local stand-in for Doris by itself."),
    Line("completion", "operate", "Print the completion script of a shell."),
    Line("version", "operate", "Print the version."),
)

_BY_NAME = {line.name: line for line in COMMANDS}
_FOOT = """\
Options of every command:
  -h, --help      Show its options and examples.
  -q, -v          Say less, say more.
  --color WHEN    auto, always or never; NO_COLOR is honoured.
  --debug         Show the stack of an error.

Examples:
  kube-collector why train-llama -n research
  kube-collector jobs --help
"""


def line_of(name: str) -> Line | None:
    """The catalogue's line of a command, or None for one that another distribution brings."""
    return _BY_NAME.get(name)


def text(installed: Iterable[Extension]) -> str:
    """The program's help: own commands by group in the catalogue's order, then those of other distributions."""
    by_name = {extension.name: extension for extension in installed}
    blocks = [f"{ABOUT}\n\nUsage: {PROGRAM} COMMAND [OPTIONS]"]
    for group, title in GROUPS.items():
        lines = [(line.name, line.help) for line in COMMANDS if line.group == group and line.name in by_name]
        blocks += _block(title, lines)
    rest = [(name, _foreign(extension)) for name, extension in sorted(by_name.items()) if name not in _BY_NAME]
    blocks += _block("More", rest)
    return "\n\n".join(blocks) + "\n\n" + _FOOT


def _block(title: str, lines: list[tuple[str, str]]) -> list[str]:
    return [f"{title}:\n" + "\n".join(f"  {name:<13} {help}" for name, help in lines)] if lines else []


def _foreign(extension: Extension) -> str:
    return f"(from {extension.distribution} {extension.version})"
