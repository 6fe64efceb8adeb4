"""The table map, and rows as the loader writes them."""

import pytest

from pipeline.records import rows, tables
from pipeline.records.rows import Row

NOON = 1_772_452_800_000


@pytest.mark.parametrize("table", tables.TABLES.values(), ids=lambda table: table.name)
def test_the_key_of_a_table_is_the_beginning_of_its_columns_and_its_sequence_the_end(table):
    names = [column.name for column in table.columns]
    assert tuple(names[: len(table.key)]) == table.key
    assert names[-1] == tables.VERSION
    assert len(set(names)) == len(names)
    assert table.partitioned == (table.key[0] == "day")


@pytest.mark.parametrize("table", tables.TABLES.values(), ids=lambda table: table.name)
def test_every_column_is_explained_and_times_and_durations_are_called_so(table):
    for column in table.columns:
        assert column.comment
        timed = column.name.endswith("_at") or column.name in ("hour", "minute", "as_of")
        assert timed == (column.type == "DATETIME(3)"), column.name
        if column.name.endswith("_ms"):
            assert column.type == "BIGINT"
    assert "cluster" in [column.name for column in table.columns]


def test_tables_of_judged_rows_say_whose_they_are():
    for name in ("job_wait", "wait_segment", "wait_reason_hour", "sla_violation"):
        assert {"namespace", "job_kind", "job_name", "job_uid", "tenant", "queue"} <= {
            column.name for column in tables.TABLES[name].columns
        }
        assert not tables.TABLES[name].raw


def test_a_column_is_found_by_name():
    assert tables.TABLES["job_wait"].column("wait_ms").type == "BIGINT"
    with pytest.raises(KeyError):
        tables.TABLES["job_wait"].column("nothing")


def row(**values):
    return Row("wait_segment", 7, {"day": NOON, "cluster": "c", "job_uid": "u", "episode": 1, "n": 2, **values})


def test_a_row_is_written_with_all_columns_times_as_text_sequence_and_delete_sign():
    wire = rows.wire(row(from_at=NOON + 5, ms=1000, detail=None))
    assert set(wire) == {column.name for column in tables.TABLES["wait_segment"].columns} | {tables.DELETED}
    assert (wire["day"], wire["from_at"], wire["to_at"]) == ("2026-03-02", "2026-03-02 12:00:00.005", None)
    assert (wire["ms"], wire["detail"], wire["version"], wire[tables.DELETED]) == (1000, None, 7, 0)


def test_a_removed_row_carries_the_delete_sign():
    gone = row()
    gone.deleted = True
    assert rows.wire(gone)[tables.DELETED] == 1


def test_the_key_of_a_row_is_in_the_order_of_the_table():
    assert rows.key_of(row()) == (NOON, "c", "u", 1, 2)
    with pytest.raises(KeyError):
        rows.key_of(Row("wait_segment", 1, {"day": NOON}))


def test_every_row_of_a_rebuild_wins_over_all_rows_before_it():
    assert rows.sequence(1, 0) > rows.sequence(0, 4_102_444_800_000)
    assert rows.sequence(2, 5) < rows.sequence(2, 6)
