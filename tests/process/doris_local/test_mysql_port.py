"""The SQL port with the clients people use: pymysql, and the mariadb command line."""

import datetime
import decimal
import os
import shutil
import socket
import subprocess
import threading

import pymysql
import pytest
from pymysql.constants import COMMAND, FIELD_TYPE

from tests.support.local_doris import Doris

MARIADB = shutil.which("mariadb") or shutil.which("mysql")


@pytest.fixture
def cursor(doris):
    connection = doris.connect(database="kube")
    with connection.cursor() as cursor:
        yield cursor
    connection.close()


def test_values_arrive_as_python_values(cursor):
    cursor.execute(
        "CREATE TABLE IF NOT EXISTS kinds (k INT, b BOOLEAN, i BIGINT, big LARGEINT, f DOUBLE, d DECIMAL(9, 2), day DATE, at DATETIME(3), "
        "s STRING, j JSON) DUPLICATE KEY(k) DISTRIBUTED BY HASH(k) BUCKETS 1 PROPERTIES ('replication_num' = '1')"
    )
    cursor.execute("TRUNCATE TABLE kinds")
    row = (1, True, -5, 2**70, 0.5, decimal.Decimal("1.50"), datetime.date(2026, 1, 1),
           datetime.datetime(2026, 1, 1, 0, 0, 0, 123000), "it's é \\ \"q\" 😀\n", '{"a":[1,2]}')  # fmt: skip
    assert cursor.execute("INSERT INTO kinds VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)", row) == 1
    cursor.execute("SELECT * FROM kinds")
    assert cursor.fetchall() == (row,)
    types = [column[1] for column in cursor.description]
    assert types == [
        FIELD_TYPE.LONG, FIELD_TYPE.TINY, FIELD_TYPE.LONGLONG, FIELD_TYPE.LONGLONG, FIELD_TYPE.DOUBLE, FIELD_TYPE.NEWDECIMAL,
        FIELD_TYPE.DATE, FIELD_TYPE.DATETIME, FIELD_TYPE.VAR_STRING, FIELD_TYPE.VAR_STRING,
    ]  # fmt: skip


def test_nulls_empty_results_and_long_texts_arrive(cursor):
    cursor.execute("SELECT NULL, 1 WHERE 1 = 2")
    assert cursor.fetchall() == ()
    cursor.execute("SELECT NULL, repeat('x', 300), repeat('y', 70000), repeat('z', 17000000)")
    ((null, short, long, huge),) = cursor.fetchall()
    assert (null, short, long) == (None, "x" * 300, "y" * 70_000)
    assert len(huge) == 17_000_000


def test_many_rows_arrive_in_order(cursor):
    cursor.execute("WITH d AS (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL "
                   "SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) "
                   "SELECT a.n + 10 * b.n + 100 * c.n + 1000 * e.n AS v FROM d a, d b, d c, d e ORDER BY v")  # fmt: skip
    assert [row[0] for row in cursor.fetchall()] == list(range(10_000))


def test_an_error_carries_mysqls_number_and_leaves_the_connection_usable(cursor):
    for text, number, message in [
        ("SELECT nothing FROM t", 1105, "errCode = 2, detailMessage = Unknown column 'nothing' in 'table list'"),
        ("SELEC 1", 1105, "statement SELEC is not supported"),
        ("USE nowhere", 1049, "Unknown database 'nowhere'"),
        ("CREATE DATABASE kube", 1007, "database exists"),
        ("CREATE TABLE t (k INT)", 1050, "Table 't' already exists"),
        ("DROP TABLE nothing", 1051, "Unknown table 'nothing'"),
        ("", 1065, "Query was empty"),
    ]:
        with pytest.raises(pymysql.MySQLError) as caught:
            cursor.execute(text)
        assert caught.value.args[0] == number
        assert message in caught.value.args[1]
    cursor.execute("SELECT 1")
    assert cursor.fetchall() == ((1,),)


def test_the_connection_says_what_it_is(doris):
    connection = doris.connect()
    assert connection.get_server_info() == "5.7.99"
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@version_comment, connection_id(), database()")
        comment, number, database = cursor.fetchone()
    assert comment.startswith("local store, Doris-compatible subset")
    assert (number, database) == (connection.thread_id(), None)
    connection.ping(reconnect=False)
    connection.select_db("kube")
    connection.commit()
    connection.rollback()
    connection.close()


@pytest.mark.parametrize("more", [{"user": "nobody"}, {"password": "wrong"}, {"database": "nowhere"}])
def test_a_login_that_is_wrong_is_refused(doris, more):
    with pytest.raises(pymysql.OperationalError) as caught:
        doris.connect(**more)
    assert caught.value.args[0] == (1049 if "database" in more else 1045)


def test_a_server_side_prepared_statement_is_refused_in_words(doris):
    connection = doris.connect()
    connection._execute_command(COMMAND.COM_STMT_PREPARE, "SELECT ?")
    with pytest.raises(
        pymysql.MySQLError, match="a server-side prepared statement is not supported by the local store"
    ):
        connection._read_packet()
    connection._execute_command(COMMAND.COM_QUERY, "SELECT 1")
    assert connection._read_query_result() == 1
    connection.close()


@pytest.mark.parametrize("rubbish", [b"", b"GET / HTTP/1.1\r\n\r\n", b"\x05\x00\x00\x01ab", b"\xff" * 64])
def test_a_client_that_speaks_something_else_harms_nobody(doris, rubbish):
    with socket.create_connection(("127.0.0.1", doris.child.mysql_port)) as client:
        client.sendall(rubbish)
    assert doris.rows("SELECT 1") == [(1,)]


def test_a_session_keeps_its_own_variables_and_database(doris):
    first, second = doris.connect(database="kube"), doris.connect()
    with first.cursor() as one, second.cursor() as two:
        one.execute("SET query_timeout = 77")
        one.execute("SELECT @@query_timeout, database()")
        two.execute("SELECT @@query_timeout, database()")
        assert (one.fetchone(), two.fetchone()) == ((77, "kube"), (900, None))
    first.close()
    second.close()


def test_readers_see_whole_loads_while_rows_are_loaded(doris):
    """Each load replaces all 500 rows by ones with the next sequence: no query may see a mixture or a gap."""
    seen, stop = set(), threading.Event()

    def read() -> None:
        connection = doris.connect()
        with connection.cursor() as cursor:
            while not stop.is_set():
                cursor.execute("SELECT count(*), min(seq), max(seq) FROM kube.t")
                seen.add(cursor.fetchone())
        connection.close()

    doris.load(*({"k": k, "v": "x", "seq": 0} for k in range(500)))
    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for version in range(1, 1000):
        assert doris.load(*({"k": k, "v": "x", "seq": version} for k in range(500)))["Status"] == "Success"
        if version >= 15 and len(seen) > 1:
            break
    stop.set()
    for reader in readers:
        reader.join()
    assert all(count == 500 and low == high for count, low, high in seen)
    assert len(seen) > 1


# -- what clients ask about tables


def test_tables_can_be_looked_at(doris, cursor):
    cursor.execute(
        "CREATE OR REPLACE VIEW v (`k` COMMENT 'key', n COMMENT 'sum') COMMENT 'a view' AS SELECT k, SUM(seq) FROM t GROUP BY k"
    )
    assert ("kube",) in doris.rows("SHOW DATABASES")
    assert doris.rows("SHOW DATABASES LIKE 'kub%'") == [("kube",)]
    cursor.execute("SHOW FULL TABLES LIKE '%'")
    assert {("t", "BASE TABLE"), ("v", "VIEW")} <= set(cursor.fetchall())
    assert doris.rows("DESC kube.t") == [
        ("k", "int", "No", "true", None, ""), ("v", "varchar(20)", "Yes", "false", None, "NONE"),
        ("at", "datetime(3)", "Yes", "false", None, "NONE"), ("seq", "bigint", "No", "false", None, "NONE"),
    ]  # fmt: skip
    assert [row[:2] for row in doris.rows("SHOW FULL COLUMNS FROM v FROM kube")] == [("k", "int"), ("n", "bigint")]
    assert doris.rows("SHOW COLUMNS FROM kube.t LIKE 'se%'") == [("seq", "bigint", "NO", "", None, "")]
    ((name, text),) = doris.rows("SHOW CREATE TABLE kube.t")
    assert name == "t"
    assert text.startswith("CREATE TABLE `t` (\n  `k` int NOT NULL,\n")
    assert "UNIQUE KEY(`k`)\nDISTRIBUTED BY HASH(`k`) BUCKETS 1\n" in text
    ((_, text, *_),) = doris.rows("SHOW CREATE VIEW kube.v")
    assert text == (
        "CREATE VIEW `v` (`k` COMMENT 'key', `n` COMMENT 'sum') COMMENT 'a view' AS SELECT k, SUM(seq) FROM t GROUP BY k;"
    )


def test_information_schema_describes_tables_views_and_columns(doris, cursor):
    cursor.execute("CREATE OR REPLACE VIEW v (`k` COMMENT 'key') COMMENT 'a view' AS SELECT k FROM t")
    assert doris.rows("SELECT SCHEMA_NAME FROM information_schema.schemata WHERE SCHEMA_NAME = 'kube'") == [("kube",)]
    doris.load({"k": 1, "seq": 1})
    tables = doris.rows(
        "SELECT TABLE_NAME, TABLE_TYPE, ENGINE, TABLE_ROWS, TABLE_COMMENT FROM information_schema.tables "
        "WHERE TABLE_SCHEMA = 'kube' AND TABLE_NAME IN ('t', 'v') ORDER BY 1"
    )
    assert tables == [("t", "BASE TABLE", "Doris", 1, ""), ("v", "VIEW", "View", None, "a view")]
    columns = doris.rows(
        "SELECT COLUMN_NAME, ORDINAL_POSITION, IS_NULLABLE, DATA_TYPE, COLUMN_TYPE, COLUMN_KEY, CHARACTER_MAXIMUM_LENGTH, "
        "DATETIME_PRECISION FROM information_schema.columns WHERE TABLE_SCHEMA = 'kube' AND TABLE_NAME = 't' ORDER BY 2"
    )
    assert columns == [
        ("k", 1, "NO", "int", "int", "UNI", None, None), ("v", 2, "YES", "varchar", "varchar(20)", "", 20, None),
        ("at", 3, "YES", "datetime", "datetime(3)", "", None, 3), ("seq", 4, "NO", "bigint", "bigint", "", None, None),
    ]  # fmt: skip
    assert doris.rows("SELECT COLUMN_COMMENT FROM information_schema.columns WHERE TABLE_NAME = 'v'") == [("key",)]
    cursor.execute("ALTER TABLE t ADD COLUMN extra INT DEFAULT '7' AFTER v")
    assert doris.rows("SELECT COLUMN_NAME FROM information_schema.columns WHERE TABLE_NAME = 't' ORDER BY ORDINAL_POSITION") == [
        ("k",), ("v",), ("extra",), ("at",), ("seq",),
    ]  # fmt: skip
    assert doris.rows("SELECT extra FROM kube.t") == [(7,)]
    cursor.execute("ALTER TABLE t DROP COLUMN extra")
    for empty in ("statistics", "key_column_usage", "table_constraints", "triggers", "routines", "events"):
        assert doris.rows(f"SELECT * FROM information_schema.{empty}") == []


def test_the_cluster_can_be_looked_at(doris):
    (backend,) = doris.rows("SHOW BACKENDS")
    assert (backend[1], int(backend[4]), backend[6]) == ("127.0.0.1", doris.child.backend_port, "true")
    (frontend,) = doris.rows("SHOW FRONTENDS")
    assert (int(frontend[3]), int(frontend[4])) == (doris.child.http_port, doris.child.mysql_port)
    assert doris.rows("SHOW PROC '/backends'") == [backend]
    assert doris.rows("SHOW VARIABLES LIKE 'time\\_zone'") == [("time_zone", "UTC")]
    assert doris.rows("SHOW VARIABLES WHERE Variable_name = 'time_zone'") == [("time_zone", "UTC")]
    assert doris.rows("SHOW WARNINGS") == []
    assert doris.rows("SHOW ENGINES")[0][0] == "Olap"
    assert doris.rows("SHOW ALTER TABLE COLUMN FROM kube") == []
    with pytest.raises(pymysql.MySQLError, match="SHOW ROUTINE is not supported"):
        doris.rows("SHOW ROUTINE LOAD")


@pytest.mark.skipif(MARIADB is None, reason="neither the mariadb nor the mysql program is installed")
def test_the_command_line_client_works(doris):
    doris.load({"k": 1, "v": "é", "at": "2026-01-01 00:00:00", "seq": 1}, {"k": 2, "seq": 1})
    lines = _mariadb(
        doris, "SELECT * FROM t ORDER BY k; SHOW TABLES; \\s\nSELECT nope FROM t; SELECT 'after'", "--force"
    )
    assert "1\té\t2026-01-01 00:00:00.000\t1\n2\tNULL\tNULL\t1\n" in lines.stdout
    assert "5.7.99 local store, Doris-compatible subset" in lines.stdout
    assert "ERROR 1105 (HY000)" in lines.stderr
    assert "Unknown column 'nope'" in lines.stderr
    assert lines.stdout.endswith("after\n")


@pytest.mark.skipif(MARIADB is None, reason="neither the mariadb nor the mysql program is installed")
def test_a_password_is_asked_of_both_protocols(tmp_path):
    doris = Doris.started(tmp_path, password="s3cret:%/@")
    try:
        doris.rows("CREATE DATABASE kube")
        assert doris.redirect().endswith("/api/kube/t/_stream_load")
        assert doris.load({"k": 1})["Message"].endswith("unknown table, tableName=t")
        with pytest.raises(pymysql.OperationalError, match="Access denied"):
            doris.connect(password="")
        assert _mariadb(doris, "SELECT 1").stdout == "1\n1\n"
    finally:
        doris.stop()


def _mariadb(doris: Doris, script: str, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [MARIADB, "--no-defaults", "-h127.0.0.1", f"-P{doris.child.mysql_port}", "-uroot", "-Dkube", *flags]
    environment = {**os.environ, "MYSQL_PWD": doris.password, "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        [*command, "--default-character-set=utf8mb4"],
        input=script,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
