"""Whole queries: what they mean, the types and names of their columns, and what is refused."""

import pytest

from sinks.doris_local import errors

TABLES = (
    """CREATE TABLE wait (
        `day` DATE NOT NULL, job VARCHAR(64) NOT NULL, queue VARCHAR(64), gpus INT, wait_ms BIGINT, share DOUBLE,
        cost DECIMAL(10, 2), created_at DATETIME(3), hour_at DATETIME, helped BOOLEAN, also JSON, version BIGINT NOT NULL
    ) UNIQUE KEY(`day`, job) DISTRIBUTED BY HASH(job) BUCKETS 1
    PROPERTIES ("replication_num" = "1", "function_column.sequence_col" = "version")""",
    """CREATE TABLE queue (name VARCHAR(64) NOT NULL, tenant VARCHAR(64)) DUPLICATE KEY(name)
    DISTRIBUTED BY HASH(name) BUCKETS 1 PROPERTIES ("replication_num" = "1")""",
)


@pytest.fixture(scope="module")
def filled(shared_store):
    shared_store.run(*TABLES)
    common = {"day": "2026-01-01", "version": 1}
    shared_store.load(
        "wait",
        {**common, "job": "a", "queue": "vision", "gpus": 8, "wait_ms": 1000, "share": 0.5, "cost": "1.50",
         "created_at": "2026-01-01 00:00:00.123", "hour_at": "2026-01-01 00:00:00", "helped": True, "also": {"k": [1]}},
        {**common, "job": "b", "queue": "vision", "gpus": 1, "wait_ms": 3000, "share": 3, "cost": "2.50",
         "created_at": "2026-01-01 00:07:00.000", "hour_at": "2026-01-01 00:00:00", "helped": False},
        {**common, "job": "c", "queue": "nlp", "gpus": 2, "wait_ms": 2000, "created_at": "2026-01-01 01:00:00"},
        {**common, "day": "2026-01-02", "job": "d", "created_at": "2026-01-02 00:00:00"},
    )  # fmt: skip
    shared_store.load("queue", {"name": "vision", "tenant": "x"}, {"name": "empty", "tenant": "y"})
    return shared_store


CASES = [
    # aggregates
    ("SELECT count(*), count(queue), count(DISTINCT queue), sum(wait_ms), min(gpus), max(gpus), avg(gpus) FROM wait",
     [("4", "3", "2", "6000", "1", "8", "3.6666666666666665")]),
    ("SELECT sum(cost), avg(share), sum(helped) FROM wait", [("4.00", "1.75", "1")]),
    ("SELECT queue, group_concat(job ORDER BY job) FROM wait GROUP BY queue ORDER BY queue",
     [(None, "d"), ("nlp", "c"), ("vision", "a, b")]),
    ("SELECT group_concat(DISTINCT queue, '|' ORDER BY queue DESC) FROM wait", [("vision|nlp",)]),
    ("SELECT group_concat(gpus, '+' ORDER BY gpus) FROM wait", [("1+2+8",)]),
    ("SELECT percentile(wait_ms, 0.5), round(percentile_approx(wait_ms, 0.95), 6), percentile_approx(wait_ms, 0.5, 2048) FROM wait",
     [("2000", "2900", "2000")]),
    ("SELECT count_if(gpus > 1), sum_if(wait_ms, gpus > 1), avg_if(wait_ms, gpus > 1), min_if(job, gpus > 1), "
     "max_if(job, gpus > 1) FROM wait", [("2", "3000", "1500", "a", "c")]),
    ("SELECT max_by(job, wait_ms), min_by(job, wait_ms) FROM wait", [("b", "a")]),
    ("SELECT any_value(queue), ndv(queue), approx_count_distinct(queue) FROM wait WHERE queue = 'nlp'", [("nlp", "1", "1")]),
    ("SELECT round(stddev(gpus), 3), round(stddev_pop(gpus), 3), round(stddev_samp(gpus), 3), round(std(gpus), 3) FROM wait",
     [("3.091", "3.091", "3.786", "3.091")]),
    ("SELECT round(variance(gpus), 3), round(var_pop(gpus), 3), round(var_samp(gpus), 3), round(variance_samp(gpus), 3), "
     "round(corr(gpus, wait_ms), 3) FROM wait", [("9.556", "9.556", "14.333", "14.333", "-0.924")]),
    ("SELECT sum(wait_ms) FROM wait WHERE job = 'none'", [(None,)]),
    ("SELECT sum(gpus * 3600000) FROM wait", [("39600000",)]),
    # grouping
    ("SELECT queue, sum(gpus) AS g FROM wait WHERE queue IS NOT NULL GROUP BY queue HAVING g > 2 ORDER BY g", [("vision", "9")]),
    ("SELECT queue, count(*) FROM wait GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1, 1", [(None, "1")]),
    ("SELECT grouping(queue), queue, count(*) FROM wait GROUP BY ROLLUP(queue) ORDER BY 1, 2",
     [("0", None, "1"), ("0", "nlp", "1"), ("0", "vision", "2"), ("1", None, "4")]),
    ("SELECT DISTINCT queue FROM wait ORDER BY queue DESC", [("vision",), ("nlp",), (None,)]),
    # nulls are smallest
    ("SELECT job FROM wait ORDER BY share, job", [("c",), ("d",), ("a",), ("b",)]),
    ("SELECT job FROM wait ORDER BY share DESC, job", [("b",), ("a",), ("c",), ("d",)]),
    ("SELECT job FROM wait ORDER BY share NULLS LAST, job LIMIT 1", [("a",)]),
    # joins and subqueries
    ("SELECT w.job, q.tenant FROM wait w JOIN queue q ON w.queue = q.name ORDER BY 1", [("a", "x"), ("b", "x")]),
    ("SELECT q.name, w.job FROM queue q LEFT JOIN wait w ON w.queue = q.name ORDER BY 1, 2",
     [("empty", None), ("vision", "a"), ("vision", "b")]),
    ("SELECT count(*) FROM wait, queue", [("8",)]),
    ("SELECT q.name FROM queue q LEFT ANTI JOIN wait w ON w.queue = q.name", [("empty",)]),
    ("SELECT q.name FROM queue q LEFT SEMI JOIN wait w ON w.queue = q.name", [("vision",)]),
    ("SELECT job FROM wait WHERE queue IN (SELECT name FROM queue) ORDER BY 1", [("a",), ("b",)]),
    ("SELECT name FROM queue q WHERE NOT EXISTS (SELECT 1 FROM wait w WHERE w.queue = q.name)", [("empty",)]),
    ("SELECT job FROM wait WHERE wait_ms = (SELECT max(wait_ms) FROM wait)", [("b",)]),
    ("SELECT job FROM wait WHERE (queue, gpus) IN (('vision', 8), ('nlp', 1))", [("a",)]),
    ("WITH big AS (SELECT * FROM wait WHERE gpus > 1), n(c) AS (SELECT count(*) FROM big) SELECT c FROM n", [("2",)]),
    ("SELECT job FROM wait WHERE gpus = 8 UNION ALL SELECT name FROM queue ORDER BY 1", [("a",), ("empty",), ("vision",)]),
    ("SELECT queue FROM wait INTERSECT SELECT name FROM queue", [("vision",)]),
    ("SELECT name FROM queue EXCEPT SELECT queue FROM wait", [("empty",)]),
    ("SELECT kube.wait.job FROM kube.wait ORDER BY kube.wait.job LIMIT 1", [("a",)]),
    ("SELECT job FROM internal.kube.wait ORDER BY job LIMIT 1 OFFSET 2", [("c",)]),
    ("SELECT t.a + t.b FROM (SELECT 1 AS a, 2 AS b) t", [("3",)]),
    # windows
    ("SELECT job, row_number() OVER (PARTITION BY queue ORDER BY wait_ms DESC) FROM wait WHERE queue = 'vision' ORDER BY 1",
     [("a", "2"), ("b", "1")]),
    ("SELECT job, sum(wait_ms) OVER (ORDER BY job), sum(gpus) OVER () FROM wait WHERE gpus > 0 ORDER BY job",
     [("a", "1000", "11"), ("b", "4000", "11"), ("c", "6000", "11")]),
    ("SELECT job, lag(job, 1, 'none') OVER (ORDER BY job), lead(job, 1, NULL) OVER (ORDER BY job) FROM wait ORDER BY 1 LIMIT 2",
     [("a", "none", "b"), ("b", "a", "c")]),
    ("SELECT job, rank() OVER (ORDER BY `day`), dense_rank() OVER (ORDER BY `day`), ntile(2) OVER (ORDER BY job) FROM wait "
     "ORDER BY 1 DESC LIMIT 1", [("d", "4", "2", "2")]),
    ("SELECT job, percent_rank() OVER (ORDER BY job), cume_dist() OVER (ORDER BY job) FROM wait ORDER BY 1 LIMIT 1",
     [("a", "0", "0.25")]),
    ("SELECT first_value(job) OVER (ORDER BY job), last_value(job) OVER (ORDER BY job ROWS BETWEEN UNBOUNDED PRECEDING AND "
     "UNBOUNDED FOLLOWING) FROM wait LIMIT 1", [("a", "d")]),
    ("SELECT job, max(wait_ms) OVER w FROM wait WHERE queue = 'vision' WINDOW w AS (PARTITION BY queue) ORDER BY 1",
     [("a", "3000"), ("b", "3000")]),
    # an alias may have the name of a column, which then is meant
    ("SELECT job AS queue, queue AS q FROM wait WHERE queue = 'nlp'", [("c", "nlp")]),
    ("WITH x(a, b) AS (SELECT job, gpus FROM wait) SELECT b AS a FROM x WHERE a = 'b'", [("1",)]),
    ("SELECT b AS c FROM (SELECT * FROM (SELECT 1 AS b, 2 AS c) i) o WHERE c = 2", [("1",)]),
    ("SELECT (SELECT max(q.name) FROM queue q WHERE q.name = queue) AS n FROM wait WHERE job = 'a'", [("vision",)]),
    # JSON
    ("SELECT get_json_int(also, '$.k[0]'), also FROM wait WHERE job = 'a'", [("1", '{"k":[1]}')]),
    # comments and hints
    ("SELECT /*+ SET_VAR(query_timeout = 1) */ 1 -- one\n", [("1",)]),
    ("SELECT 1;", [("1",)]),
]  # fmt: skip


@pytest.mark.parametrize(("query", "expected"), CASES, ids=[c[0][:70] for c in CASES])
def test_a_query_gives_what_doris_gives(filled, query, expected):
    assert filled.rows(query) == expected


TIMES = [
    # a time's text against DATE, DATETIME and VARCHAR
    ("`day` >= '2026-01-02'", "d"),
    ("`day` >= '2026-01-01 10:00:00'", "d"),
    ("`day` = '2026-01-02 00:00:00'", "d"),
    ("created_at = '2026-01-01 00:00:00.123'", "a"),
    ("created_at < '2026-01-01 00:00:00.1235'", "a"),
    ("hour_at < '2026-01-01 00:00:00.5'", "a, b"),
    ("created_at BETWEEN '2026-01-01 00:05:00' AND '2026-01-01 01:00:00'", "b, c"),
    ("created_at IN ('2026-01-01 01:00:00', '2026-01-02 00:00:00')", "c, d"),
    ("'2026-01-01 01:00:00' <= created_at", "c, d"),
    ("job < '2026-01-01 00:00:00'", None),
    ("job > '2026-01-01 00:00:00'", "a, b, c, d"),
    # Grafana's macros
    ("created_at BETWEEN FROM_UNIXTIME(1767225900) AND FROM_UNIXTIME(1767229200)", "b, c"),
    ("created_at >= FROM_UNIXTIME(1767312000)", "d"),
    ("`day` BETWEEN FROM_UNIXTIME(1767225601) AND FROM_UNIXTIME(1767312001)", "d"),
    ("UNIX_TIMESTAMP(created_at) >= 1767225900 AND UNIX_TIMESTAMP(created_at) <= 1767229200", "b, c"),
    ("date_format(created_at, '%Y-%m-%d') = '2026-01-02'", "d"),
    ("created_at > date_sub('2026-01-02 00:00:00', INTERVAL 1 HOUR)", "d"),
]


@pytest.mark.parametrize(("condition", "jobs"), TIMES, ids=[t[0] for t in TIMES])
def test_times_written_as_text_compare_as_on_doris(filled, condition, jobs):
    assert filled.rows(f"SELECT group_concat(job ORDER BY job) FROM wait WHERE {condition}") == [(jobs,)]


def test_grafanas_time_group_makes_whole_seconds(filled):
    query = (
        'SELECT UNIX_TIMESTAMP(created_at) DIV 300 * 300 AS "time", queue AS metric, sum(gpus) AS value FROM wait '
        "WHERE created_at < '2026-01-01 00:30:00' GROUP BY 1, 2 ORDER BY 1"
    )
    columns, rows = filled.table(query)
    assert [c.name for c in columns] == ["time", "metric", "value"]
    assert rows == [("1767225600", "vision", "8"), ("1767225900", "vision", "1")]


def test_columns_have_the_types_of_doris(filled):
    columns, (row,) = filled.table(
        "SELECT `day`, job, gpus, wait_ms, share, cost, created_at, hour_at, helped, also, sum(gpus) OVER (), count(*) OVER () "
        "FROM wait WHERE job = 'a'"
    )
    kinds = [(c.kind.code, c.kind.decimals) for c in columns]
    assert kinds == [
        (10, 0), (253, 0), (3, 0), (8, 0), (5, 31), (246, 2), (12, 3), (12, 0), (1, 0), (253, 0), (8, 0), (8, 0),
    ]  # fmt: skip
    assert row == (
        "2026-01-01", "a", "8", "1000", "0.5", "1.50", "2026-01-01 00:00:00.123", "2026-01-01 00:00:00", "1", '{"k":[1]}',
        "8", "1",
    )  # fmt: skip


def test_the_decimals_of_a_time_survive_functions_that_keep_it(filled):
    columns, _ = filled.table(
        "SELECT max(created_at), coalesce(created_at, now(3)), date_add(created_at, INTERVAL 1 DAY), lag(created_at) OVER (), "
        "date_trunc(created_at, 'hour'), if(gpus > 1, created_at, NULL), greatest(created_at, created_at), "
        "minute_floor(created_at, 5) FROM wait GROUP BY created_at, gpus"
    )
    assert [c.kind.decimals for c in columns] == [3, 3, 3, 3, 3, 3, 3, 0]


@pytest.mark.parametrize(
    ("select_list", "names"),
    [
        ("count(*)", ["count(*)"]),
        ("wait.job, job j, job AS k, `job`", ["job", "j", "k", "job"]),
        ("gpus + 1, gpus+1 AS n", ["gpus + 1", "n"]),
        ("sum(gpus) OVER (ORDER BY job) total, 'x', 1", ["total", "x", "1"]),
        ('gpus AS "time", gpus \'g\'', ["time", "g"]),
        ("CASE WHEN gpus > 1 THEN 1 END, NULL", ["CASE WHEN gpus > 1 THEN 1 END", "NULL"]),
        ("DISTINCT job", ["job"]),
        ("if(gpus IN (1, 2), 'a', 'b')", ["if(gpus IN (1, 2), 'a', 'b')"]),
        ("(SELECT max(gpus) FROM wait) AS top", ["top"]),
        ("*", ["day", "job", "queue", "gpus", "wait_ms", "share", "cost", "created_at", "hour_at", "helped", "also", "version"]),
        ("* EXCEPT(also, version), 1 AS one",
         ["day", "job", "queue", "gpus", "wait_ms", "share", "cost", "created_at", "hour_at", "helped", "one"]),
    ],
)  # fmt: skip
def test_columns_are_named_as_they_are_written(filled, select_list, names):
    columns, _ = filled.table(f"WITH x AS (SELECT 1 AS y) SELECT {select_list} FROM wait LIMIT 1")
    assert [c.name for c in columns if c.name] == names or [c.name.strip("'") for c in columns] == names


def test_session_facts_and_variables_can_be_selected(filled):
    filled.run(
        "SET query_timeout = 30, @mine = 1",
        "SET NAMES utf8mb4",
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    )
    ((version, timeout, database, user, comment),) = filled.rows(
        "SELECT version(), @@query_timeout, database(), user(), @@session.version_comment"
    )
    assert (version, timeout, database, user) == ("5.7.99", "30", "kube", "'root'@'127.0.0.1'")
    assert comment.startswith("local store, Doris-compatible subset")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT nothing FROM wait", "Unknown column 'nothing' in 'table list'"),
        ("SELECT w.nothing FROM wait w", "Unknown column 'nothing' in 'table list'"),
        ("SELECT 1 FROM nowhere", "Table [nowhere] does not exist in database [kube]."),
        ("SELECT 1 FROM WAIT", "Table [WAIT] does not exist in database [kube]."),
        ("SELECT role FROM wait", "reserved word"),
        ("SELECT job FROM wait LIMIT", "syntax error"),
        ("SELECT 1; SELECT 2", "exactly one statement"),
        ("SELECT * FROM read_csv('/etc/passwd')", "Can not found function 'read_csv'"),
        ("SELECT * FROM '/etc/passwd'", "does not exist in database"),
        ("SELECT * FROM wait TABLESAMPLE(10 PERCENT)", "is not supported"),
        ("SELECT * FROM wait LATERAL VIEW explode([1]) t AS e", "is not supported"),
        ("SELECT job FROM wait FOR UPDATE", "is not supported"),
        ("SELECT DISTINCT ON (job) job FROM wait", "DISTINCT .. ON is not supported"),
        ("SELECT queue, count(*) FROM wait GROUP BY ALL", "GROUP .. ALL is not supported"),
        ("SELECT 1 AS a UNION BY NAME SELECT 2 AS a", "BY NAME is not supported"),
        ("SELECT gpus + 1 AS more, more + 1 FROM wait", "Unknown column 'more'"),
        ("SELECT gpus AS g FROM wait WHERE g > 1", "Unknown column 'g'"),
        ("SELECT w.gpus AS g FROM wait w JOIN queue q ON g = 1", "Unknown column 'g'"),
        ("WITH x AS (SELECT 1 AS a) SELECT a AS b FROM x WHERE b = 1", "Unknown column 'b'"),
        ("SELECT s.a AS b FROM (SELECT 1 AS a) s WHERE b = 1", "Unknown column 'b'"),
        ("SELECT TABLE_NAME AS n FROM information_schema.tables WHERE n = 't'", "Unknown column 'n'"),
        ("SELECT * FROM wait NATURAL JOIN queue", "NATURAL JOIN is not supported"),
        ("SELECT * FROM hive.kube.wait", "catalog 'hive' is not supported"),
        ("SELECT count(*) FILTER (WHERE gpus > 1) FROM wait", "is not supported"),
        ("SELECT @x", "is not supported"),
        ("SELECT job FROM wait GROUP BY queue", "job"),
    ],
)
def test_a_query_outside_the_subset_is_refused(filled, query, message):
    import duckdb

    with pytest.raises((errors.SqlError, duckdb.Error)) as caught:
        filled.rows(query)
    error = caught.value
    if isinstance(error, duckdb.Error):
        error = filled.statements.explain(error)
    assert message in error.message


def test_an_unknown_variable_is_named(filled):
    with pytest.raises(errors.SqlError, match="Unknown system variable 'nothing'") as caught:
        filled.rows("SELECT @@nothing")
    assert caught.value.errno == 1193


def test_a_time_zone_other_than_utc_is_refused_since_results_would_be_wrong(filled):
    filled.run("SET time_zone = '+00:00'")
    with pytest.raises(errors.SqlError, match="only UTC"):
        filled.run("SET time_zone = '+08:00'")


def test_a_query_that_takes_too_long_is_ended(filled):
    import duckdb

    filled.run("SET query_timeout = 1")
    try:
        with pytest.raises(duckdb.InterruptException) as caught:
            filled.rows(
                "SELECT sum(sqrt(a.gpus * b.gpus + c.gpus + d.gpus + e.gpus)) FROM wait a, wait b, wait c, wait d, wait e, wait f, "
                "wait g, wait h, wait i, wait j, wait k, wait l, wait m, wait n, wait o, wait p, wait q"
            )
    finally:
        filled.run("SET query_timeout = DEFAULT")
    assert "timeout" in filled.statements.explain(caught.value).message
