"""Definitions: Doris' grammar, clause order and table rules, and the normal form that reads back to the same table."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records import tables
from sinks.doris import ddl as shipped_ddl
from sinks.doris_local import cursor, ddl, ddl_table, errors, schema, table_rules, tokens

FULL = """
CREATE TABLE IF NOT EXISTS `kube`.`job_wait` (
  `day` DATE NOT NULL COMMENT 'UTC day',
  cluster VARCHAR(64) NOT NULL,
  n CHAR(3) DEFAULT "abc", big LARGEINT, f FLOAT, dd DOUBLE DEFAULT 0.5, d DECIMAL(10, 2) DEFAULT -1.5,
  at DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3), s STRING, j JSON, b BOOLEAN DEFAULT TRUE, t DATETIME, -- comment
  version BIGINT NOT NULL DEFAULT "0",
  INDEX by_s (s) USING INVERTED PROPERTIES("parser" = "english") COMMENT 'words'
) ENGINE = OLAP
UNIQUE KEY(`day`, cluster)
COMMENT "it's \\"one\\""
AUTO PARTITION BY RANGE (date_trunc(`day`, 'day')) ()
DISTRIBUTED BY HASH(cluster) BUCKETS AUTO
PROPERTIES ("replication_num" = "1", "function_column.sequence_col" = "VERSION");
"""


def table(text):
    statement = ddl.parse(text)
    assert isinstance(statement, ddl_table.CreateTable)
    return statement.table


def columns(body, tail='DUPLICATE KEY(a) DISTRIBUTED BY HASH(a) BUCKETS 1 PROPERTIES ("replication_num" = "1")'):
    return f"CREATE TABLE t ({body}) {tail}"


def test_every_clause_of_a_table_is_understood():
    made = table_rules.settle(table(FULL))
    assert (made.model, made.keys) == ("UNIQUE", ("day", "cluster"))
    assert made.partition == schema.Partition("day", "day")
    assert (made.hash_columns, made.buckets) == (("cluster",), None)
    assert made.comment == 'it\'s "one"'
    assert made.sequence_column == "version"
    assert [str(c.type) for c in made.columns] == [
        "date", "varchar(64)", "char(3)", "largeint", "float", "double", "decimal(10,2)", "datetime(3)", "text", "json",
        "boolean", "datetime", "bigint",
    ]  # fmt: skip
    assert [c.default for c in made.columns if c.default is not None] == [
        "abc", "0.5", "-1.5", "CURRENT_TIMESTAMP(3)", "1", "0",
    ]  # fmt: skip


def test_the_normal_form_reads_back_to_the_same_table():
    made = table_rules.settle(table(FULL))
    again = table_rules.settle(ddl.parse(made.create_text()).table)
    assert again == schema.Table(**{f: getattr(made, f) for f in made.__struct_fields__} | {"database": ""})
    assert again.create_text() == made.create_text()


def test_the_normal_form_is_written_as_doris_writes_it():
    made = table_rules.settle(table(columns("a INT, b VARCHAR(5) NOT NULL DEFAULT 'x' COMMENT 'y'")))
    assert made.create_text() == (
        "CREATE TABLE `t` (\n"
        "  `a` int NULL,\n"
        '  `b` varchar(5) NOT NULL DEFAULT "x" COMMENT "y"\n'
        ") ENGINE=OLAP\n"
        "DUPLICATE KEY(`a`)\n"
        "DISTRIBUTED BY HASH(`a`) BUCKETS 1\n"
        "PROPERTIES (\n"
        '"replication_allocation" = "tag.location.default: 1"\n'
        ");"
    )


@pytest.mark.parametrize("shipped", tables.TABLES.values(), ids=lambda t: t.name)
def test_every_shipped_table_is_accepted(shipped):
    made = table_rules.settle(table(shipped_ddl.create_table(shipped, replication_num=1, buckets=4)))
    assert made.keys == shipped.key
    assert [c.name for c in made.columns] == [c.name for c in shipped.columns]


names = st.text(string.ascii_letters + string.digits + "_", min_size=1, max_size=20).filter(
    lambda n: not n.upper().startswith("__DORIS_") and n.upper() != "ROWID"
)
types = st.sampled_from(
    ["BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "LARGEINT", "FLOAT", "DOUBLE", "DECIMAL(9,3)", "DATE", "DATETIME(6)",
     "VARCHAR(7)", "CHAR(2)", "STRING", "JSON"]
)  # fmt: skip


@given(
    st.lists(
        st.tuples(names, types, st.booleans(), st.text()), min_size=1, max_size=8, unique_by=lambda c: c[0].lower()
    ),
    st.text(),
)
def test_any_table_reads_back_from_its_normal_form(made, comment):
    body = ", ".join(
        f"`{n}` {kind} {'NULL' if nullable else 'NOT NULL'} COMMENT {tokens.quote_string(said)}"
        for n, kind, nullable, said in made
    )
    tail = f'DUPLICATE KEY(`k`) COMMENT {tokens.quote_string(comment)} PROPERTIES ("replication_num" = "1")'
    first = (
        table_rules.settle(table(columns(f"`k` INT, {body}", tail)))
        if "k" not in {m[0].lower() for m in made}
        else None
    )
    if first is not None:
        assert table_rules.settle(ddl.parse(first.create_text()).table) == first


@given(st.text())
def test_any_text_survives_being_quoted(text):
    (token, _) = tokens.tokenize(tokens.quote_string(text))
    assert (token.kind, token.value) == (tokens.Kind.STRING, text)


@given(st.text(max_size=40))
def test_any_text_is_parsed_or_refused(text):
    try:
        ddl.parse(text)
    except errors.SqlError as error:
        assert error.message


REFUSED = [
    # grammar: clause order and words
    (columns("a INT", 'DISTRIBUTED BY HASH(a) DUPLICATE KEY(a) PROPERTIES ("replication_num"="1")'), "mismatched input 'DUPLICATE'"),
    (columns("a INT", "PRIMARY KEY(a)"), "mismatched input 'PRIMARY'"),
    (columns("a INT", "DUPLICATE KEY(a) PROPERTIES('x'='1') COMMENT 'late'"), "mismatched input 'COMMENT'"),
    (columns("key INT"), "mismatched input 'key' expecting identifier"),
    (columns("a INT DEFAULT now()"), "mismatched input 'now'"),
    (columns("a INT,"), "expecting identifier"),
    (columns("a NUMBER"), "Unknown type or wrong length: 'NUMBER'"),
    (columns("a VARCHAR(70000)"), "Unknown type or wrong length"),
    (columns("a DECIMAL(40, 2)"), "Unknown type or wrong length"),
    (columns("a DATETIME(7)"), "Unknown type or wrong length"),
    ("CREATE TABLE a-b (a INT)", "mismatched input '-'"),
    ("CREATE TABLE t (a INT) extra", "mismatched input 'extra' expecting <EOF>(line 1, pos 23)"),
    ("CREATE TABLE t (\n  a INT DEFAULT 'open\n)", "unrecognized input"),
    ("SELECT 1", "expecting {'ALTER', 'CREATE', 'DROP', 'TRUNCATE'}"),
    # what Doris has and this has not
    (columns("a INT, v VARIANT"), "type VARIANT is not supported"),
    (columns("a INT, v ARRAY<INT>"), "type ARRAY is not supported"),
    (columns("a INT, v BITMAP BITMAP_UNION", "AGGREGATE KEY(a)"), "type BITMAP is not supported"),
    (columns("a DATETIME(2)"), "only the scales 0, 3 and 6"),
    (columns("a BIGINT AUTO_INCREMENT"), "AUTO_INCREMENT is not supported"),
    (columns("a INT, b INT AS (a + 1)"), "a generated column is not supported"),
    (columns("a INT", "DUPLICATE KEY(a) PARTITION BY RANGE(a) ()"), "PARTITION BY without AUTO is not supported"),
    (columns("a INT", "DUPLICATE KEY(a) AUTO PARTITION BY LIST (a) ()"), "LIST is not supported"),
    ("CREATE TABLE t LIKE u", "CREATE TABLE .. LIKE is not supported"),
    ("CREATE MATERIALIZED VIEW v AS SELECT 1", "CREATE MATERIALIZED is not supported"),
    ("CREATE USER 'x'", "CREATE USER is not supported"),
    ("ALTER TABLE t RENAME u", "ALTER TABLE .. RENAME is not supported"),
    ("DROP TABLE hive.a.b", "catalog 'hive' is not supported"),
    # rules
    (columns("a INT, b INT", 'UNIQUE KEY(b) DISTRIBUTED BY HASH(b) PROPERTIES ("replication_num"="1")'), "ordered prefix of the schema"),
    (columns("a INT", 'UNIQUE KEY(z) DISTRIBUTED BY HASH(z) PROPERTIES ("replication_num"="1")'), "Key column[z] doesn't exist"),
    (columns("a DOUBLE"), "Float or double can not used as a key"),
    (columns("a STRING"), "String Type should not be used in key column[a]"),
    (columns("a JSON"), "JsonType type should not be used in key column[a]."),
    (columns("a FLOAT, b INT", ""), "The olap table first column could not be float"),
    (columns("a INT, A INT"), "Duplicate column name 'A'"),
    (columns("a INT, `__DORIS_X` INT"), "can't start with '__DORIS_'"),
    (columns("a INT, b INT SUM"), "should not specify aggregate type"),
    (columns("a INT, b INT", "AGGREGATE KEY(a)"), "should set aggregation type to non-key column in aggregate key table"),
    (columns("a INT, b STRING SUM", "AGGREGATE KEY(a)"), "Aggregate type SUM is not compatible with primitive type text"),
    (columns("a INT, b INT REPLACE_IF_NOT_NULL NOT NULL", "AGGREGATE KEY(a)"), "REPLACE_IF_NOT_NULL column must be nullable"),
    (columns("a INT DEFAULT 'x'"), "Invalid default value for 'a'"),
    (columns("a INT, v INT", 'UNIQUE KEY(a) DISTRIBUTED BY RANDOM PROPERTIES ("replication_num"="1")'),
     "Should not be distributed by random when keys type is unique"),
    (columns("a INT, v INT", 'UNIQUE KEY(a) PROPERTIES ("replication_num"="1")'), "Should not be distributed by random"),
    (columns("a INT, v INT REPLACE", "AGGREGATE KEY(a) DISTRIBUTED BY RANDOM"), "column is in replace, [v] is invalid"),
    (columns("a INT, v INT", "UNIQUE KEY(a) DISTRIBUTED BY HASH(v)"), "Distribution column[v] is not key column"),
    (columns("a INT", "DUPLICATE KEY(a) DISTRIBUTED BY HASH(z)"), "Distribution column(z) doesn't exist."),
    (columns("a INT", "DUPLICATE KEY(a) DISTRIBUTED BY HASH(a) BUCKETS 0"), "greater than zero"),
    (columns("a INT, d DATE NOT NULL", "UNIQUE KEY(a) AUTO PARTITION BY RANGE (date_trunc(d, 'day')) () DISTRIBUTED BY HASH(a)"),
     "The partition column could only be key column"),
    (columns("d DATE", "UNIQUE KEY(d) AUTO PARTITION BY RANGE (date_trunc(d, 'day')) () DISTRIBUTED BY HASH(d)"),
     "AUTO RANGE PARTITION doesn't support NULL column"),
    (columns("d INT NOT NULL", "UNIQUE KEY(d) AUTO PARTITION BY RANGE (date_trunc(d, 'day')) () DISTRIBUTED BY HASH(d)"),
     "partition expr date_trunc is illegal!"),
    (columns("a INT", "DUPLICATE KEY(a) DISTRIBUTED BY HASH(a)"), "replication num is 3, available backend num is 1"),
    (columns("a INT", 'DUPLICATE KEY(a) DISTRIBUTED BY HASH(a) PROPERTIES ("replication_num"="1", "colour"="red")'),
     "Unknown properties: {colour=red}"),
    (columns("a INT, v DOUBLE", 'UNIQUE KEY(a) DISTRIBUTED BY HASH(a) PROPERTIES ("function_column.sequence_col"="v")'),
     "Sequence type only support integer types and date types"),
    (columns("a INT", 'UNIQUE KEY(a) DISTRIBUTED BY HASH(a) PROPERTIES ("function_column.sequence_col"="z")'),
     "The specified sequence column[z] not exists"),
    (columns("a INT, v INT", 'UNIQUE KEY(a) DISTRIBUTED BY HASH(a) PROPERTIES ("function_column.sequence_col"="v", '
             '"function_column.sequence_type"="int")'), "cannot be set at the same time"),
    (columns("a INT, v INT", 'DUPLICATE KEY(a) PROPERTIES ("function_column.sequence_col"="v")'), "only support UNIQUE_KEYS"),
    (columns("a INT", 'DUPLICATE KEY(a) PROPERTIES ("enable_unique_key_merge_on_write"="true", "replication_num"="1")'),
     "only support unique key table"),
    (columns("a INT, INDEX i (z)"), "invalid column: z"),
    (columns("a INT, INDEX i (a), INDEX I (a)"), "index name must be unique."),
    ("CREATE TABLE `no/slash` (a INT)", "Incorrect table name"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[r[1] for r in REFUSED])
def test_what_doris_refuses_is_refused_in_its_words(text, message):
    with pytest.raises(errors.SqlError) as caught:
        table_rules.settle(table(text))
    assert message in caught.value.message


def test_keys_left_out_are_chosen_as_doris_chooses_them():
    def chosen(body):
        return table_rules.settle(table(columns(body, 'PROPERTIES ("replication_num" = "1")'))).keys

    assert chosen("a INT, b INT, c INT, d INT") == ("a", "b", "c")
    assert chosen("a VARCHAR(5), b INT") == ("a",)
    assert chosen("a LARGEINT, b LARGEINT, c LARGEINT") == ("a", "b")
    assert chosen("a INT, b DOUBLE") == ("a",)
    assert chosen("a CHAR(90), b INT") == ("a",)
    assert chosen("a INT, b INT, c INT SUM") == ("a", "b")


def test_statements_about_databases_views_and_columns_are_understood():
    assert ddl.parse("CREATE DATABASE IF NOT EXISTS kube;") == ddl.CreateDatabase("kube", True)
    assert ddl.parse("DROP DATABASE IF EXISTS `kube` FORCE") == ddl.DropDatabase("kube", True)
    assert ddl.parse("DROP TABLE t") == ddl.Drop("TABLE", cursor.Name(None, "t"), False)
    assert ddl.parse("DROP VIEW IF EXISTS a.v") == ddl.Drop("VIEW", cursor.Name("a", "v"), True)
    assert ddl.parse("TRUNCATE TABLE t PARTITION(p1, p2)") == ddl.Truncate(cursor.Name(None, "t"), ("p1", "p2"))
    assert ddl.parse("CREATE OR REPLACE VIEW v (a COMMENT 'x', b) COMMENT 'y' AS\nSELECT 1, 2 ;") == ddl.CreateView(
        cursor.Name(None, "v"), "replace", (("a", "x"), ("b", "")), "y", "SELECT 1, 2"
    )
    assert ddl.parse("ALTER VIEW v AS WITH x AS (SELECT 1) SELECT * FROM x").mode == "alter"
    altered = ddl.parse("ALTER TABLE t ADD COLUMN (a INT, b INT), DROP COLUMN c, DROP PARTITION IF EXISTS p1 FORCE")
    assert [type(c).__name__ for c in altered.changes] == ["AddColumns", "DropColumn", "DropPartition"]
    (added,) = ddl.parse("ALTER TABLE t ADD COLUMN a INT NULL COMMENT 'x' AFTER b").changes
    assert (added.columns[0].comment, added.after) == ("x", "b")
