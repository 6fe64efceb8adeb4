"""`schedule --at`: which job `--job` means, and what a table and CSV have."""

from __future__ import annotations

import csv
import io

import pytest

from pipeline.cli import output
from pipeline.errors import NotFound
from pipeline.records.decisions import Decision
from scheduler_core import command
from scheduler_core.command import whole_name

WAITING = {"ml/moe-fdd2", "ml/train", "web/train"}


@pytest.mark.parametrize("given", ["ml/moe-fdd2", "moe-fdd2"])
def test_the_only_waiting_job_of_a_name_needs_no_namespace(given: str) -> None:
    assert whole_name(given, WAITING) == "ml/moe-fdd2"


@pytest.mark.parametrize(
    ("given", "fix"),
    [
        ("train", "Did you mean ml/train or web/train?"),
        ("moe-fdd3", "Did you mean ml/moe-fdd2?"),
        ("ml/moe-fdd3", "Did you mean ml/moe-fdd2?"),
        ("web/moe-fdd2", "Did you mean ml/moe-fdd2?"),
        ("other", "`kube-collector jobs --phase waiting` lists the jobs that wait."),
    ],
)
def test_any_other_name_is_not_found_with_the_nearest(given: str, fix: str) -> None:
    with pytest.raises(NotFound) as raised:
        whole_name(given, WAITING)
    assert raised.value.fix == fix


@pytest.mark.parametrize(
    ("nodes", "told", "in_table"), [(None, ("", "3"), "0/3"), (2, ("2", "3"), "2/3")], ids=["none", "some"]
)
def test_counts_of_nodes_are_two_numbers_in_csv_and_one_text_in_a_table(nodes, told, in_table):
    decision = Decision(source="shadow", policy="p", session_ms=0, kind="attribution", nodes=nodes, total_nodes=3)
    texts = {}
    for format_ in ("csv", "table"):
        out = io.StringIO()
        output.render([decision], command.COLUMNS, format_, out=out)
        texts[format_] = out.getvalue()
    (row,) = csv.DictReader(io.StringIO(texts["csv"]))
    assert (row["nodes"], row["total_nodes"]) == told
    assert in_table in texts["table"].split() and "TOTAL" not in texts["table"]


def test_a_table_tells_one_of_something_as_one_and_csv_has_what_the_log_has():
    message = "0/1 nodes take it: 1 Insufficient cpu; 1 jobs of the queue went before it, ml/a by gang"
    helps = ("no single change makes it fit; 1 of 4 nodes come nearest and fail only: Insufficient cpu",)
    decision = Decision(source="shadow", policy="p", session_ms=0, kind="attribution", message=message, helps=helps)
    table, rows = io.StringIO(), io.StringIO()
    output.render([decision], command.COLUMNS, "wide", out=table)
    output.render([decision], command.COLUMNS, "csv", out=rows)
    assert "1 job of the queue went before it" in table.getvalue() and "1 of 4 nodes comes nearest" in table.getvalue()
    (row,) = csv.DictReader(io.StringIO(rows.getvalue()))
    assert row["message"] == message
