"""Tables and views as the warehouse reports them, and schema changes."""

from __future__ import annotations

import pytest

from pipeline.errors import CheckFailed
from pipeline.records import tables
from sinks.doris import migrations, shipped, warehouse


def test_a_second_apply_finds_nothing_to_do(settings):
    assert warehouse.plan_schema(settings) == migrations.Plan([], [])
    assert warehouse.apply_schema(settings).changes == []


def test_the_catalogue_knows_every_table_and_view_with_its_comment(settings, sql):
    found = sql.query(
        "SELECT TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM information_schema.tables WHERE TABLE_SCHEMA = %s",
        (settings.database,),
    )
    by_name = {name: (kind, comment) for name, kind, comment in found.rows}
    for table in tables.TABLES.values():
        assert by_name[table.name] == ("BASE TABLE", table.comment)
    for name in shipped.VIEWS:
        assert by_name[name] == ("VIEW", shipped.view(name).comment)


@pytest.mark.parametrize("table", tables.TABLES.values(), ids=lambda table: table.name)
def test_the_catalogue_knows_every_column_in_order_with_its_comment(table, settings, sql):
    found = sql.query(
        "SELECT COLUMN_NAME, COLUMN_COMMENT, IS_NULLABLE FROM information_schema.columns "
        "WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s ORDER BY ORDINAL_POSITION",
        (settings.database, table.name),
    )
    never_null = {*table.key, tables.VERSION}
    assert list(found.rows) == [
        (column.name, column.comment, "NO" if column.name in never_null else "YES") for column in table.columns
    ]


@pytest.mark.parametrize("name", shipped.VIEWS)
def test_a_views_columns_are_commented(name, settings, sql):
    found = sql.query(
        "SELECT COLUMN_NAME, COLUMN_COMMENT FROM information_schema.columns "
        "WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s ORDER BY ORDINAL_POSITION",
        (settings.database, name),
    )
    assert found.rows and all(comment for _, comment in found.rows)


@pytest.mark.parametrize("name", [*tables.TABLES, *shipped.VIEWS])
def test_everything_can_be_read(name, sql):
    found = sql.query(f"SELECT * FROM `{name}` LIMIT 1")
    assert found.columns and not any(column.startswith("__DORIS") for column in found.columns)


def test_a_missing_column_is_added_where_the_map_has_it(settings, sql):
    sql.execute("ALTER TABLE `wait_segment` DROP COLUMN `evidence`")
    _until_gone(settings)
    assert [change.what for change in warehouse.apply_schema(settings).changes] == [
        "column wait_segment.evidence VARCHAR(16)"
    ]
    names = [name for name, *_ in sql.query("DESC `wait_segment`").rows]
    assert names == [column.name for column in tables.WAIT_SEGMENT.columns]


def test_a_view_of_an_older_text_is_replaced(settings, sql):
    sql.execute("DROP VIEW `v_pipeline_health`")
    sql.execute(
        "CREATE VIEW `v_pipeline_health` (`cluster` COMMENT 'x') COMMENT 'old' AS SELECT `cluster` FROM `progress`"
    )
    assert [change.what for change in warehouse.apply_schema(settings).changes] == [
        "view v_pipeline_health (replaced)",
        "view v_pipeline_health",
    ]
    assert "behind_ms" in sql.query("SELECT * FROM `v_pipeline_health` LIMIT 1").columns


def test_a_column_of_another_type_stops_the_apply_before_anything_is_done(server, settings, sql):
    other = settings.model_copy(update={"database": f"{settings.database}_other"})
    admin = warehouse.Sql(settings, database="")
    admin.execute(f"CREATE DATABASE `{other.database}`")
    pool = warehouse.Sql(other)
    try:
        pool.execute(
            "CREATE TABLE `progress` (`cluster` VARCHAR(128) NOT NULL, `stage` VARCHAR(32) NOT NULL, `log_at` INT) "
            "UNIQUE KEY(`cluster`, `stage`) DISTRIBUTED BY HASH(`cluster`) BUCKETS 1 "
            f'PROPERTIES ("replication_num" = "{settings.replication_num}")'
        )
        with pytest.raises(CheckFailed, match=r"progress\.log_at is int"):
            warehouse.apply_schema(other)
        assert [name for (name,) in pool.query("SHOW TABLES").rows] == ["progress"]
    finally:
        pool.close()
        admin.execute(f"DROP DATABASE `{other.database}`")
        admin.close()


def _until_gone(settings):
    """A real Doris drops a column in the background."""
    import time

    deadline = time.monotonic() + 60
    while not warehouse.plan_schema(settings).changes:
        assert time.monotonic() < deadline
        time.sleep(0.2)
