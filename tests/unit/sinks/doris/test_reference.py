"""The reference page names every view and table with every column."""

from __future__ import annotations

from pipeline.records import tables
from sinks.doris import reference, shipped


def test_every_view_and_table_stands_in_the_page_with_its_columns():
    page = reference.page()
    for name in shipped.VIEWS:
        section = page.split(f"## {name}\n")[1].split("\n## ")[0]
        assert section.count("| `") == shipped.view(name).statement.count(" COMMENT '")
    for table in tables.TABLES.values():
        section = page.split(f"## Table {table.name}\n")[1].split("\n## ")[0]
        assert all(f"| `{column.name}` | {column.type} |" in section for column in table.columns)


def test_marks_of_texts_do_not_show():
    assert not any(shipped.view(name).comment in reference.page() for name in shipped.VIEWS)
