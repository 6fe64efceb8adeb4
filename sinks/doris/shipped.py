"""The statements that are shipped: tables from the map, views from their files. Pure but for reading own package data."""

from __future__ import annotations

import functools
import hashlib
import re
from importlib import resources
from typing import NamedTuple

from pipeline.records import tables
from sinks.doris import ddl

VIEWS = (
    "v_job_wait",
    "v_wait_segment",
    "v_pending_reason_hour",
    "v_sla_violation",
    "v_sla_budget_day",  # reads v_job_wait, so it stands behind it
    "v_event",
    "v_scheduler_decision",
    "v_queue_quota_hour",
    "v_gpu_fragmentation_hour",
    "v_pipeline_health",
)
"""Every public view, each behind those it reads."""

_COMMENT = re.compile(r"\)\nCOMMENT '((?:[^']|'')*)'\nAS\n")
_LINE_COMMENT = re.compile(r"^ *--.*\n", re.MULTILINE)


class View(NamedTuple):
    """A view: the statement that makes it, and its comment, which ends with a mark of its text."""

    name: str
    statement: str
    comment: str


@functools.cache
def view(name: str) -> View:
    """The view of that name. Its mark in the comment tells a later migration whether it is still this one."""
    text = (resources.files("sinks.doris") / "views" / f"{name}.sql").read_text(encoding="utf-8").strip()
    text = _LINE_COMMENT.sub("", text)  # Doris keeps a view's text; comments in it are for readers of the file
    found = _COMMENT.search(text)
    if found is None:
        raise ValueError(f"{name}.sql has no COMMENT between its columns and its query")
    mark = hashlib.sha256(text.encode()).hexdigest()[:12]
    comment = f"{found[1].replace(chr(39) * 2, chr(39))} [{mark}]"
    statement = text[: found.start()] + f")\nCOMMENT {ddl.literal(comment)}\nAS\n" + text[found.end() :]
    return View(name, statement, comment)


def statements(*, replication_num: int = 3, buckets: int = 4) -> dict[str, str]:
    """Every statement by the name of its file: tables, then views, in the order in which they can be run."""
    shipped = {
        f"table_{table.name}": ddl.create_table(table, replication_num=replication_num, buckets=buckets)
        for table in tables.TABLES.values()
    }
    return shipped | {f"view_{name}": view(name).statement for name in VIEWS}
