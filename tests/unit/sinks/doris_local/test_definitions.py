"""Databases, tables, views and partitions as they are made, changed and dropped."""

import pytest

from sinks.doris_local import errors

ONE = 'DISTRIBUTED BY HASH(k) BUCKETS 1 PROPERTIES ("replication_num" = "1")'
TABLE = f"CREATE TABLE t (k INT, v VARCHAR(9), n INT) UNIQUE KEY(k) {ONE}"
BY_DAY = f"""CREATE TABLE d (`day` DATE NOT NULL, k INT) UNIQUE KEY(`day`, k)
    AUTO PARTITION BY RANGE (date_trunc(`day`, '{{}}')) () {ONE}"""


def refused(store, text):
    with pytest.raises(errors.SqlError) as caught:
        store.run(text)
    return caught.value


def test_a_table_made_twice_is_refused_unless_that_is_fine(store):
    store.run(TABLE, TABLE.replace("TABLE t", "TABLE IF NOT EXISTS t"))
    assert refused(store, TABLE).errno == 1050
    assert "only in case" in refused(store, TABLE.replace("TABLE t", "TABLE T")).message


def test_dropping_what_is_not_there_is_refused_unless_that_is_fine(store):
    store.run("DROP TABLE IF EXISTS t", "DROP VIEW IF EXISTS v", "DROP DATABASE IF EXISTS other")
    assert refused(store, "DROP TABLE t").errno == 1051
    assert refused(store, "DROP DATABASE other").errno == 1008
    assert refused(store, "DROP TABLE other.t").errno == 1049


def test_a_table_is_no_view_and_a_view_is_no_table(store):
    store.run(TABLE, "CREATE VIEW v AS SELECT k FROM t")
    assert refused(store, "DROP VIEW t").errno == 1347
    assert refused(store, "DROP TABLE v").errno == 1347
    assert refused(store, "TRUNCATE TABLE v").errno == 1347
    assert refused(store, "CREATE OR REPLACE VIEW t AS SELECT 1 AS k").errno == 1050
    store.run("DROP VIEW v", "DROP TABLE t FORCE")
    assert store.rows("SHOW TABLES") == []


def test_databases_keep_their_tables_apart(store):
    store.run(
        TABLE,
        "CREATE DATABASE other",
        TABLE.replace("TABLE t", "TABLE other.t"),
        "INSERT INTO other.t VALUES (1, 'a', 1)",
    )
    assert (store.rows("SELECT k FROM t"), store.rows("SELECT k FROM other.t")) == ([], [("1",)])
    assert "only in case" in refused(store, "CREATE DATABASE OTHER").message
    assert refused(store, "CREATE DATABASE other").errno == 1007
    assert refused(store, "CREATE DATABASE `1st`").errno == 1102
    assert "can't be changed" in refused(store, TABLE.replace("TABLE t", "TABLE information_schema.t")).message
    store.run("DROP DATABASE other")
    assert refused(store, "USE other").errno == 1049


def test_without_a_database_a_bare_name_is_refused(store):
    store.session.database = None
    assert refused(store, TABLE).errno == 1046
    assert refused(store, "SELECT 1 FROM t").errno == 1046
    assert refused(store, "SHOW TABLES").errno == 1046


def test_a_column_can_be_added_in_its_place_and_dropped(store):
    store.run(TABLE, "INSERT INTO t VALUES (1, 'a', 5)")
    store.run(
        "ALTER TABLE t ADD COLUMN w DATETIME(3) NULL AFTER v", "ALTER TABLE t ADD COLUMN (x INT DEFAULT '3', y STRING)"
    )
    assert store.rows("SELECT * FROM t") == [("1", "a", None, "5", "3", None)]
    store.load("t", {"k": 2, "v": "b", "w": "2026-01-01 00:00:00.5"})
    assert store.rows("SELECT w, x FROM t WHERE k = 2") == [("2026-01-01 00:00:00.500", "3")]
    store.run("ALTER TABLE t DROP COLUMN w, DROP COLUMN n")
    assert [c.name for c in store.table("SELECT * FROM t")[0]] == ["k", "v", "x", "y"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("ADD COLUMN v INT", "Can not add column which already exists in base table: v"),
        ("ADD COLUMN x INT FIRST", "Can not add value column before key column"),
        ("ADD COLUMN x INT AFTER nothing", "Column[nothing] does not exists"),
        ("ADD COLUMN x INT KEY", "ADD COLUMN of a key column is not supported"),
        ("ADD COLUMN x INT NOT NULL", "needs a DEFAULT"),
        ("ADD COLUMN __DORIS_X INT", "can't start with '__DORIS_'"),
        ("ADD COLUMN x INT DEFAULT 'y'", "Invalid default value for 'x'"),
        ("DROP COLUMN nothing", "Column does not exists: nothing"),
        ("DROP COLUMN k", "Can not drop key column"),
        ("DROP PARTITION p1", "Table t is not partitioned"),
        ("ADD PARTITION p1 VALUES LESS THAN (1)", "ADD PARTITION is not supported"),
        ("MODIFY COLUMN v INT", "ALTER TABLE .. MODIFY is not supported"),
    ],
)
def test_a_change_that_doris_refuses_leaves_the_table_as_it_was(store, change, message):
    store.run(TABLE)
    assert message in refused(store, f"ALTER TABLE t ADD COLUMN fine INT, {change}").message
    assert [c.name for c in store.table("SELECT * FROM t")[0]] == ["k", "v", "n"]


def test_the_sequence_column_cannot_be_dropped(store):
    store.run(TABLE.replace('"1")', '"1", "function_column.sequence_col" = "n")'))
    assert "Can not drop sequence mapping column[n]" in refused(store, "ALTER TABLE t DROP COLUMN n").message


@pytest.mark.parametrize(
    ("unit", "names"),
    [
        ("day", ["p20251231000000", "p20260101000000", "p20260102000000"]),
        ("week", ["p20251229000000"]),
        ("month", ["p20251201000000", "p20260101000000"]),
        ("year", ["p20250101000000", "p20260101000000"]),
    ],
)
def test_partitions_are_made_by_rows_and_dropped_by_name(store, unit, names):
    store.run(BY_DAY.format(unit))
    days = ("2025-12-31", "2026-01-01", "2026-01-02")
    store.load("d", *({"day": day, "k": k} for day in days for k in range(2)))
    assert [row[1] for row in store.rows("SHOW PARTITIONS FROM d")] == names
    listed = store.rows(
        "SELECT PARTITION_NAME, TABLE_ROWS FROM information_schema.partitions WHERE TABLE_NAME = 'd' ORDER BY 1"
    )
    assert ([name for name, _ in listed], sum(int(n) for _, n in listed)) == (names, 6)
    store.run(f"ALTER TABLE d DROP PARTITION {names[0]}")
    assert [row[1] for row in store.rows("SHOW PARTITIONS FROM d")] == names[1:]
    assert (
        f"partition [{names[0]}] does not exist" in refused(store, f"ALTER TABLE d DROP PARTITION {names[0]}").message
    )
    store.run(f"ALTER TABLE d DROP PARTITION IF EXISTS {names[0]}", "TRUNCATE TABLE d")
    assert store.rows("SELECT * FROM d") == []


def test_a_dropped_partition_takes_its_tombstones_along(store):
    store.run(BY_DAY.format("day"))
    store.load("d", {"day": "2026-01-01", "k": 1}, merge_type="DELETE")
    assert store.rows("SELECT count(*) FROM d") == [("0",)]
    assert len(store.rows("SHOW PARTITIONS FROM d")) == 1
    store.run("TRUNCATE TABLE d PARTITION(p20260101000000)")
    assert store.rows("SHOW PARTITIONS FROM d") == []


def test_a_view_can_be_made_replaced_and_altered(store):
    store.run(TABLE, "INSERT INTO t VALUES (1, 'a', 5)", "CREATE VIEW v (one COMMENT 'x') AS SELECT k FROM t")
    assert refused(store, "CREATE VIEW v AS SELECT 1 AS x").errno == 1050
    store.run("CREATE VIEW IF NOT EXISTS v AS SELECT 1 AS x")
    assert store.table("SELECT * FROM v")[1] == [("1",)]
    store.run("CREATE OR REPLACE VIEW v AS SELECT v, n + 1 AS m FROM t")
    assert [c.name for c in store.table("SELECT * FROM v")[0]] == ["v", "m"]
    store.run("ALTER VIEW v AS SELECT count(*) AS c FROM t;")
    assert store.rows("SELECT c FROM v") == [("1",)]
    assert "does not exist" in refused(store, "ALTER VIEW w AS SELECT 1 AS x").message


def test_a_view_of_nothing_is_refused_and_not_kept(store):
    assert "Table [nowhere] does not exist" in refused(store, "CREATE VIEW v AS SELECT 1 FROM nowhere").message
    assert store.rows("SHOW TABLES") == []


def test_views_read_the_database_they_are_in(store):
    store.run(
        TABLE,
        "INSERT INTO t VALUES (1, 'a', 5)",
        "CREATE VIEW v AS SELECT k FROM t",
        "CREATE DATABASE other",
        "USE other",
    )
    assert store.rows("SELECT * FROM kube.v") == [("1",)]
    store.run("DROP DATABASE other", "USE kube")


def test_everything_is_there_again_after_a_restart(own_store):
    own_store.run(
        TABLE,
        "INSERT INTO t VALUES (1, 'a', 5)",
        "CREATE VIEW late AS SELECT 1 AS k",
        "CREATE VIEW early AS SELECT k FROM late",
    )
    # Older than what it reads now: the order of creation is no order to make views in.
    own_store.run("CREATE OR REPLACE VIEW late AS SELECT k FROM t", "ALTER TABLE t ADD COLUMN x INT AFTER v")
    before = [own_store.rows(f"SHOW CREATE TABLE {name}") for name in ("t", "late", "early")]
    own_store.reopen()
    assert [own_store.rows(f"SHOW CREATE TABLE {name}") for name in ("t", "late", "early")] == before
    assert own_store.rows("SELECT k FROM early") == [("1",)]
    assert own_store.rows("SELECT x FROM t") == [(None,)]


def test_a_view_whose_table_is_gone_fails_alone(own_store):
    own_store.run(TABLE, "CREATE VIEW v AS SELECT k FROM t", "CREATE VIEW w AS SELECT 2 AS k", "DROP TABLE t")
    own_store.reopen()
    assert own_store.rows("SELECT k FROM w") == [("2",)]
    with pytest.raises(Exception, match="v"):
        own_store.rows("SELECT k FROM v")
    assert ("v", "1") not in own_store.rows("SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.columns")


def test_labels_outlive_a_restart_and_are_forgotten_after_twelve_hours(own_store, monkeypatch):
    from sinks.doris_local import labels

    own_store.run(TABLE)
    own_store.load("t", {"k": 1}, label="kept")
    own_store.reopen()
    assert own_store.labels.state("kube", "kept") == "VISIBLE"
    monkeypatch.setattr(labels, "PRUNE_EVERY", 1)
    monkeypatch.setattr(labels, "KEEP_MS", -1)
    own_store.load("t", {"k": 2}, label="new")
    assert own_store.labels.state("kube", "kept") == "UNKNOWN"
    own_store.reopen()
    assert own_store.labels.state("kube", "kept") == "UNKNOWN"


def test_only_the_newest_labels_are_kept(own_store, monkeypatch):
    from sinks.doris_local import labels

    monkeypatch.setattr(labels, "PRUNE_EVERY", 1)
    monkeypatch.setattr(labels, "KEEP_NEWEST", 2)
    own_store.run(TABLE)
    for n in range(4):
        own_store.load("t", {"k": n}, label=f"l{n}")
    # the label under way is not counted among the finished ones
    assert [own_store.labels.state("kube", f"l{n}") for n in range(4)] == ["UNKNOWN", "VISIBLE", "VISIBLE", "VISIBLE"]


def test_a_load_read_for_an_older_definition_is_refused(store, monkeypatch):
    from sinks.doris_local.load import Loader, LoadFailed

    store.run(TABLE)
    read = Loader._stage

    def altered_meanwhile(self, *args):
        read(self, *args)
        store.run("ALTER TABLE t ADD COLUMN x INT")

    monkeypatch.setattr(Loader, "_stage", altered_meanwhile)
    with pytest.raises(LoadFailed, match="was altered during the load"):
        store.load("t", {"k": 1}, label="again")
    monkeypatch.undo()
    assert store.load("t", {"k": 1}, label="again").loaded == 1
