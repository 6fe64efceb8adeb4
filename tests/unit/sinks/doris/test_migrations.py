"""Plans from what is there to what the table map says."""

from __future__ import annotations

import pytest

from pipeline.records import tables
from sinks.doris import migrations, shipped
from sinks.doris.migrations import Present


def as_doris_says(kind: str) -> str:
    """Types as information_schema prints them."""
    printed = {"DATE": "date", "INT": "int", "BIGINT": "bigint", "BOOLEAN": "tinyint(1)", "STRING": "text"}
    return printed.get(kind, kind.lower())


def complete():
    return Present(
        {t.name: [(c.name, as_doris_says(c.type)) for c in t.columns] for t in tables.TABLES.values()},
        {name: shipped.view(name).comment for name in shipped.VIEWS},
    )


def plan(present):
    return migrations.plan(present, replication_num=1, buckets=2)


def test_an_empty_warehouse_gets_every_table_and_then_every_view():
    made = plan(Present(None, {}))
    assert [change.what for change in made.changes] == [
        *(f"table {name}" for name in tables.TABLES),
        *(f"view {name}" for name in shipped.VIEWS),
    ]
    assert made.conflicts == []


def test_a_complete_warehouse_gets_nothing():
    made = plan(complete())
    assert made == migrations.Plan([], []) and "nothing to do" in str(made)


def test_types_are_compared_without_the_form_in_which_they_are_printed():
    present = complete()
    columns = dict(present.tables["job_wait"]) | {
        "episode": "int(11)", "gpus": "bigint(20)", "partial": "boolean", "created_at": "datetimev2(3)",
        "day": "datev2", "message": "string",
    }  # fmt: skip
    present.tables["job_wait"] = list(columns.items())
    assert plan(present).conflicts == []


def test_a_missing_column_is_added_and_waited_for():
    present = complete()
    present.tables["job_wait"] = [column for column in present.tables["job_wait"] if column[0] != "cause"]
    (change,) = plan(present).changes
    assert change.what == "column job_wait.cause VARCHAR(128)" and change.awaited == ("job_wait", "cause")


def test_neighbours_that_are_both_missing_are_added_in_order():
    present = complete()
    gone = {"estimated_ms", "gap_ms"}
    present.tables["job_wait"] = [column for column in present.tables["job_wait"] if column[0] not in gone]
    statements = [change.statement for change in plan(present).changes]
    assert "AFTER `leading_share`" in statements[0] and "AFTER `estimated_ms`" in statements[1]


@pytest.mark.parametrize(
    ("column", "kind", "text"),
    [("gpus", "int", "job_wait.gpus is int, not BIGINT"), ("owner", "varchar(64)", "job_wait.owner is varchar(64)")],
)
def test_another_type_is_a_conflict_and_nothing_is_changed_for_it(column, kind, text):
    present = complete()
    present.tables["job_wait"] = [(name, kind if name == column else old) for name, old in present.tables["job_wait"]]
    made = plan(present)
    assert made.changes == [] and made.conflicts[0].startswith(text)


def test_a_key_column_cannot_be_added():
    present = complete()
    present.tables["job_wait"] = [column for column in present.tables["job_wait"] if column[0] != "episode"]
    assert plan(present).conflicts == ["job_wait.episode: a key column cannot be added"]


def test_columns_that_the_map_does_not_know_are_left_alone():
    present = complete()
    present.tables["job_wait"].append(("of_a_newer_version", "int"))
    assert plan(present) == migrations.Plan([], [])


def test_a_view_whose_text_changed_is_replaced():
    present = complete()
    present.views["v_event"] = "one sight of a Kubernetes Event [000000000000]"
    made = plan(present)
    assert [change.what for change in made.changes] == ["view v_event (replaced)", "view v_event"]
    assert made.changes[0].statement == "DROP VIEW IF EXISTS `v_event`"
