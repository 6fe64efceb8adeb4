"""Stream Load without its sockets: how JSON becomes rows, which rows are filtered, which headers are refused."""

import gzip

import pytest

from sinks.doris_local.errors import SqlError
from sinks.doris_local.load import LoadFailed

ONE = 'DISTRIBUTED BY HASH(k) BUCKETS 1 PROPERTIES ("replication_num" = "1"'
TABLE = f"""CREATE TABLE t (k INT NOT NULL, name VARCHAR(5) DEFAULT "none", at DATETIME(3), n BIGINT, d DECIMAL(6, 2),
    b BOOLEAN, f DOUBLE, day DATE, j JSON, s STRING NOT NULL DEFAULT "") UNIQUE KEY(k) {ONE})"""


@pytest.fixture
def made(store):
    store.run(TABLE)
    return store


def cells(store, columns):
    return store.rows(f"SELECT {columns} FROM t ORDER BY k")


def test_every_type_is_read_from_json(made):
    result = made.load(
        "t",
        {"k": 1, "name": "é", "at": "2026-01-01T00:00:00.5Z", "n": 9007199254740993, "d": "1.239", "b": True, "f": 1e300,
         "day": "2026-01-01", "j": {"a": [1, 2.5, None]}, "s": "x", "unknown": 1},
        {"k": "2", "name": 5, "at": "2026-01-01 08:00:00+08:00", "n": "7", "d": 1, "b": 0, "f": "0.1", "day": "2026-01-02",
         "j": '{"b": 1}', "s": {"o": 1}},
    )  # fmt: skip
    assert (result.total, result.loaded, result.filtered) == (2, 2, 0)
    assert cells(made, "*") == [
        ("1", "é", "2026-01-01 00:00:00.500", "9007199254740993", "1.24", "1", "1e+300", "2026-01-01", '{"a":[1,2.5,null]}', "x"),
        ("2", "5", "2026-01-01 00:00:00.000", "7", "1.00", "0", "0.1", "2026-01-02", '{"b":1}', '{"o":1}'),
    ]  # fmt: skip


def test_a_missing_key_takes_the_default_and_an_explicit_null_does_not(made):
    made.load("t", {"k": 1}, {"k": 2, "name": None})
    assert cells(made, "name, n, s") == [("none", None, ""), (None, None, "")]


def test_a_value_that_does_not_fit_is_null_or_in_strict_mode_a_bad_row(made):
    row = {"k": 1, "n": "many", "at": "yesterday", "j": "no json", "d": "x", "day": 5, "b": "maybe", "f": "wide"}
    made.load("t", row)
    assert cells(made, "n, at, j, d, day, b, f") == [(None,) * 7]
    result = made.load("t", row, {"k": 2, "n": 1.5}, {"k": 3, "n": 2}, strict_mode="true", max_filter_ratio="1")
    assert (result.loaded, result.filtered) == (1, 2)
    assert "column(at) value is incorrect while strict mode is true" in result.reasons[0]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"name": "x"}, "column_name[k], null value for not null column, type=int"),
        ({"k": None}, "column_name[k], null value for not null column"),
        ({"k": "x"}, "column_name[k], null value for not null column"),
        ({"k": 1, "s": None}, "column_name[s], null value for not null column"),
        ({"k": 1, "name": "ééé"}, "column_name[name], the length of input is too long than schema. schema length: 5"),
        ({"k": 1, "s": "x" * 1_048_577}, "column_name[s], the length of input is too long"),
    ],
)
def test_a_row_that_breaks_the_table_is_filtered_with_its_reason(made, row, reason):
    result = made.load("t", row, {"k": 7}, max_filter_ratio="0.5")
    assert (result.total, result.loaded, result.filtered) == (2, 1, 1)
    assert reason in result.reasons[0]
    assert cells(made, "k") == [("7",)]


def test_a_line_that_is_no_json_object_is_a_filtered_row(made):
    body = b'{"k": 1}\n{"k": 2\nnonsense\n\n[1]\r\n{"k": 3}\n"text"\n\xff\n{"k": 4}{"k": 5}\n{"k": 6}'
    result = made.load("t", body=body, max_filter_ratio="0.9")
    assert (result.total, result.loaded, result.filtered) == (9, 3, 6)
    assert cells(made, "k") == [("1",), ("3",), ("6",)]
    assert result.reasons[1] == "Reason: Parse json data for JsonDoc failed. src line [nonsense]; "


def test_a_value_that_is_no_object_is_a_filtered_row_also_when_no_line_is_broken(made):
    result = made.load("t", body=b'{"k": 1}\n[1]\nnull\n5\n"x"\n  {"k": 2}\n', max_filter_ratio="0.9")
    assert (result.total, result.loaded, result.filtered) == (6, 2, 4)
    body = b'[{"k": 3}, [1], null]'
    result = made.load("t", body=body, read_json_by_line="false", strip_outer_array="true", max_filter_ratio="0.9")
    assert (result.total, result.loaded, result.filtered) == (3, 1, 2)


def test_one_bad_row_fails_a_load_that_allows_none(made):
    with pytest.raises(LoadFailed, match=r"\[DATA_QUALITY_ERROR\]too many filtered rows"):
        made.load("t", {"k": 1}, {"k": None})
    assert cells(made, "k") == []


def test_a_failed_load_frees_its_label(made):
    with pytest.raises(LoadFailed):
        made.load("t", {"k": None}, label="again")
    assert made.labels.state("kube", "again") == "UNKNOWN"
    made.load("t", {"k": 1}, label="again")
    assert made.labels.state("kube", "again") == "VISIBLE"


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b'[{"k": 1}, {"k": 2}]', {"read_json_by_line": "false", "strip_outer_array": "true"}),
        (b'{\n  "k": 1\n}', {"read_json_by_line": "false"}),
        (gzip.compress(b'{"k": 1}\n{"k": 2}', mtime=0), {"compress_type": "gz"}),
        (b"", {}),
        (b"\n\n", {}),
    ],
)
def test_every_layout_of_a_body_is_read(made, body, headers):
    result = made.load("t", body=body, **headers)
    assert cells(made, "k") == [(str(n + 1),) for n in range(result.loaded)]
    assert result.loaded == body.count(b"k") if not headers.get("compress_type") else 2


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b'{"k": 1}', {"read_json_by_line": "false", "strip_outer_array": "true"}),
        (b'[{"k": 1}', {"read_json_by_line": "false", "strip_outer_array": "true"}),
        (b'[{"k": 1}]', {"read_json_by_line": "false"}),
        (b"not gzip", {"compress_type": "gz"}),
        (gzip.compress(b'{"k": 1}\n' * 999, mtime=0)[:-9], {"compress_type": "gz"}),
    ],
)
def test_a_body_of_another_layout_fails_the_load(made, body, headers):
    with pytest.raises(LoadFailed):
        made.load("t", body=body, **headers)
    assert cells(made, "k") == []


def test_broken_lines_are_found_in_a_compressed_body_too(made):
    result = made.load(
        "t", body=gzip.compress(b'{"k": 1}\nbroken', mtime=0), compress_type="gz", max_filter_ratio="0.5"
    )
    assert (result.loaded, result.filtered) == (1, 1)


def test_columns_choose_what_is_read(made):
    made.load("t", {"k": 1, "name": "a", "n": 5}, columns="k, `name`")
    assert cells(made, "name, n") == [("a", None)]


REFUSED = [
    ({"format": "csv"}, "format csv is not supported"),
    ({"format": "", "read_json_by_line": ""}, "is not supported"),
    ({"compress_type": "lz4"}, "compress_type lz4 is not supported"),
    ({"jsonpaths": '["$.k"]'}, "header jsonpaths is not supported"),
    ({"where": "k > 1"}, "header where is not supported"),
    ({"columns": "k, name = upper(name)"}, "an expression in header columns is not supported"),
    ({"columns": "k, nothing, __DORIS_VERSION_COL__"}, "Unknown column '__DORIS_VERSION_COL__'"),
    ({"columns": "k", "hidden_columns": "__DORIS_DELETE_SIGN__"}, "can't be used together"),
    ({"partial_columns": "true"}, "header partial_columns is not supported"),
    ({"two_phase_commit": "true"}, "header two_phase_commit is not supported"),
    ({"group_commit": "async_mode"}, "group_commit async_mode is not supported"),
    ({"timezone": "Asia/Shanghai"}, "timezone Asia/Shanghai: only UTC is"),
    ({"strict_mode": "yes"}, "Invalid strict_mode format"),
    ({"max_filter_ratio": "2"}, "Invalid max_filter_ratio format"),
    ({"merge_type": "REPLACE"}, "Invalid merge type REPLACE"),
    ({"merge_type": "MERGE"}, "Excepted DELETE ON clause when merge type is MERGE."),
    ({"delete": "k = 1"}, "not support DELETE ON clause when merge type is not MERGE."),
    ({"merge_type": "MERGE", "delete": "k in (select 1)"}, "is no expression over columns"),
    ({"merge_type": "MERGE", "delete": "nope(k)"}, "Can not found function 'nope'"),
    ({"function_column.sequence_col": "n"}, "There is no sequence column in the table t"),
    ({"read_json_by_line": "true", "strip_outer_array": "true"}, "together with"),
]  # fmt: skip


@pytest.mark.parametrize(("headers", "message"), REFUSED, ids=[r[1] for r in REFUSED])
def test_a_header_that_cannot_be_met_is_refused(made, headers, message):
    with pytest.raises((LoadFailed, SqlError)) as caught:
        made.load("t", {"k": 1}, **headers)
    assert message in str(caught.value)
    assert cells(made, "k") == []


def test_a_table_with_a_sequence_wants_it_in_every_load(store):
    store.run(f'CREATE TABLE t (k INT, seq INT) UNIQUE KEY(k) {ONE}, "function_column.sequence_col" = "seq")')
    store.run(f'CREATE TABLE h (k INT) UNIQUE KEY(k) {ONE}, "function_column.sequence_type" = "int")')
    for table, headers in (("t", {"columns": "k"}), ("h", {})):
        with pytest.raises(LoadFailed, match="has sequence column, need to specify the sequence column"):
            store.load(table, {"k": 1}, **headers)


def test_deletions_are_for_unique_tables(store):
    store.run(f"CREATE TABLE t (k INT) DUPLICATE KEY(k) {ONE})")
    with pytest.raises(LoadFailed, match="only supported in unique tables"):
        store.load("t", {"k": 1}, merge_type="DELETE")
    with pytest.raises(LoadFailed, match="Unknown column '__DORIS_DELETE_SIGN__'"):
        store.load("t", {"k": 1}, hidden_columns="__DORIS_DELETE_SIGN__")
