"""The key models: which row is left of several with one key, within a batch and across batches, in any order."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sinks.doris_local import errors

ONE = 'DISTRIBUTED BY HASH(k) BUCKETS 1 PROPERTIES ("replication_num" = "1"'
UNIQUE = f"CREATE TABLE t (k INT, v VARCHAR(9), seq BIGINT) UNIQUE KEY(k) {ONE})"
SEQUENCE = (
    f'CREATE TABLE t (k INT, v VARCHAR(9), seq BIGINT) UNIQUE KEY(k) {ONE}, "function_column.sequence_col" = "seq")'
)
HIDDEN = f'CREATE TABLE t (k INT, v VARCHAR(9)) UNIQUE KEY(k) {ONE}, "function_column.sequence_type" = "bigint")'
AGGREGATE = f"""CREATE TABLE t (k INT, total BIGINT SUM, least INT MIN, most INT MAX, last VARCHAR(9) REPLACE,
    kept VARCHAR(9) REPLACE_IF_NOT_NULL) AGGREGATE KEY(k) {ONE})"""
SIGN = "__DORIS_DELETE_SIGN__"


def test_of_equal_keys_in_one_batch_the_last_one_stays(store):
    store.run(UNIQUE)
    store.load("t", {"k": 1, "v": "a"}, {"k": 2, "v": "b"}, {"k": 1, "v": "c"})
    assert store.rows("SELECT k, v FROM t ORDER BY k") == [("1", "c"), ("2", "b")]


def test_a_later_batch_wins_without_a_sequence(store):
    store.run(UNIQUE)
    store.load("t", {"k": 1, "v": "a"})
    store.load("t", {"k": 1, "v": "b"})
    assert store.rows("SELECT k, v FROM t") == [("1", "b")]


def test_null_is_a_key_like_any_other(store):
    store.run(UNIQUE)
    store.load("t", {"v": "a"}, {"k": 1, "v": "b"})
    store.load("t", {"k": None, "v": "c"})
    assert store.rows("SELECT k, v FROM t ORDER BY k") == [(None, "c"), ("1", "b")]


@pytest.mark.parametrize("order", list(itertools.permutations([1, 2, 3])))
def test_the_highest_sequence_wins_in_any_order_and_any_split(store, order):
    store.run(SEQUENCE)
    rows = [{"k": 1, "v": f"v{n}", "seq": n} for n in order]
    store.load("t", *rows)
    store.run("TRUNCATE TABLE t")
    for row in rows:
        store.load("t", row)
    assert store.rows("SELECT v, seq FROM t") == [("v3", "3")]


def test_of_equal_sequences_the_later_load_wins(store):
    store.run(SEQUENCE)
    store.load("t", {"k": 1, "v": "a", "seq": 5}, {"k": 1, "v": "b", "seq": 5})
    assert store.rows("SELECT v FROM t") == [("b",)]
    store.load("t", {"k": 1, "v": "c", "seq": 5})
    assert store.rows("SELECT v FROM t") == [("c",)]


def test_a_row_without_a_sequence_loses_to_one_with(store):
    store.run(SEQUENCE)
    store.load("t", {"k": 1, "v": "a", "seq": 1}, {"k": 1, "v": "b", "seq": None})
    store.load("t", {"k": 1, "v": "c"})
    assert store.rows("SELECT v FROM t") == [("a",)]


def test_a_deleted_key_does_not_come_back_with_a_lower_sequence(store):
    store.run(SEQUENCE)
    store.load("t", {"k": 1, "v": "a", "seq": 5})
    store.load("t", {"k": 1, "v": "a", "seq": 6, SIGN: 1}, {"k": 2, "seq": 1, SIGN: 1}, hidden_columns=SIGN)
    assert store.rows("SELECT * FROM t") == []
    store.load("t", {"k": 1, "v": "late", "seq": 5}, {"k": 2, "v": "late", "seq": 0})
    assert store.rows("SELECT * FROM t") == []
    store.load("t", {"k": 1, "v": "new", "seq": 6})
    assert store.rows("SELECT * FROM t") == [("1", "new", "6")]


def test_a_delete_with_a_lower_sequence_deletes_nothing(store):
    store.run(SEQUENCE)
    store.load("t", {"k": 1, "v": "a", "seq": 5})
    store.load("t", {"k": 1, "seq": 4}, merge_type="DELETE")
    assert store.rows("SELECT v FROM t") == [("a",)]


def test_tombstones_outlive_a_restart(own_store):
    own_store.run(SEQUENCE)
    own_store.load("t", {"k": 1, "seq": 6}, merge_type="DELETE")
    own_store.reopen()
    own_store.load("t", {"k": 1, "v": "late", "seq": 5})
    assert own_store.rows("SELECT * FROM t") == []


def test_a_hidden_sequence_comes_by_header_and_shows_nowhere(store):
    store.run(HIDDEN)
    header = {"function_column.sequence_col": "rank"}
    store.load("t", {"k": 1, "v": "b", "rank": 2}, {"k": 1, "v": "a", "rank": 1}, **header)
    store.load("t", {"k": 1, "v": "c", "rank": 1}, **header)
    columns, rows = store.table("SELECT * FROM t")
    assert ([c.name for c in columns], rows) == (["k", "v"], [("1", "b")])


def test_a_delete_condition_marks_rows_by_a_column_of_the_load(store):
    store.run(SEQUENCE)
    store.load("t", {"k": 1, "v": "a", "seq": 1}, {"k": 2, "v": "b", "seq": 1})
    store.load(
        "t",
        {"k": 1, "v": "a", "seq": 2, "gone": 1}, {"k": 2, "v": "c", "seq": 2, "gone": 0},
        merge_type="MERGE", delete="gone = 1", columns="k, v, seq, gone",
    )  # fmt: skip
    assert store.rows("SELECT k, v FROM t") == [("2", "c")]


def test_aggregates_are_kept_within_a_batch_and_across_batches(store):
    store.run(AGGREGATE)
    store.load(
        "t",
        {"k": 1, "total": 1, "least": 5, "most": 5, "last": "a", "kept": "x"},
        {"k": 1, "total": 2, "least": 3, "most": 3, "last": None, "kept": None},
    )
    assert store.rows("SELECT * FROM t") == [("1", "3", "3", "5", None, "x")]
    store.load("t", {"k": 1, "total": 4, "least": 4, "most": 9, "last": "b", "kept": None}, {"k": 2, "total": None})
    assert store.rows("SELECT * FROM t ORDER BY k") == [
        ("1", "7", "3", "9", "b", "x"),
        ("2", None, None, None, None, None),
    ]


def test_a_duplicate_table_keeps_every_row(store):
    store.run(f"CREATE TABLE t (k INT, v VARCHAR(9)) DUPLICATE KEY(k) {ONE})")
    for _ in range(2):
        store.load("t", {"k": 1, "v": "a"}, {"k": 1, "v": "a"})
    assert store.value("(SELECT count(*) FROM t)") == "4"


def test_an_insert_goes_the_same_way(store):
    store.run(SEQUENCE, "INSERT INTO t VALUES (1, 'b', 2), (1, 'a', 1)", "INSERT INTO t (seq, k) SELECT 0, 1")
    assert store.rows("SELECT * FROM t") == [("1", "b", "2")]
    result = store.statements.execute(store.session, "INSERT INTO t (k, v, seq) VALUES (2, 'x', 1), (3, 'y', 1)")
    assert result.affected == 2
    assert "'status':'VISIBLE'" in result.info


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INSERT INTO t (k, v) VALUES (1, 'a')", "need to specify the sequence column"),
        ("INSERT INTO t VALUES (1, 'a')", "Column count doesn't match value count"),
        ("INSERT INTO t VALUES (1, 'far too long a text', 1)", "Insert has filtered data in strict mode"),
        ("INSERT INTO t VALUES ('x', 'a', 1)", "Insert has filtered data in strict mode"),
        ("INSERT INTO t (k, nothing, seq) VALUES (1, 'a', 1)", "Unknown column 'nothing'"),
        ("INSERT INTO v VALUES (1)", "is not BASE TABLE"),
        ("INSERT OVERWRITE TABLE t VALUES (1, 'a', 1)", "INSERT OVERWRITE is not supported"),
        ("UPDATE t SET v = 'x'", "statement UPDATE is not supported"),
        ("DELETE FROM t WHERE k = 1", "statement DELETE is not supported"),
    ],
)
def test_an_insert_that_does_not_fit_changes_nothing(store, text, message):
    store.run(SEQUENCE, "CREATE VIEW v AS SELECT k FROM t")
    with pytest.raises(errors.SqlError) as caught:
        store.run(text)
    assert message in caught.value.message
    assert store.rows("SELECT * FROM t") == []


rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.booleans()), min_size=1, max_size=12
)  # key, sequence, deleted


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(rows, st.integers(1, 4))
def test_any_rows_in_any_batches_come_to_the_same_as_a_dictionary(store, given_rows, size):
    store.run("DROP TABLE IF EXISTS t", SEQUENCE)
    wanted = {}
    for n, (key, sequence, deleted) in enumerate(given_rows):
        if key not in wanted or sequence >= wanted[key][0]:
            wanted[key] = (sequence, f"v{n}", deleted)
    loaded = [{"k": k, "v": f"v{n}", "seq": s, SIGN: int(d)} for n, (k, s, d) in enumerate(given_rows)]
    for batch in _batches(loaded, size):
        store.load("t", *batch, hidden_columns=SIGN)
    left = sorted((str(k), v, str(s)) for k, (s, v, d) in wanted.items() if not d)
    assert store.rows("SELECT * FROM t ORDER BY k") == left


def _batches(loaded, size):
    return [loaded[n : n + size] for n in range(0, len(loaded), size)]
