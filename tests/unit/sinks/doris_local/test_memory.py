"""What the store keeps in memory of its file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sinks.doris_local import engine as engines
from sinks.doris_local.engine import Engine, Limits

ROWS = 100_000
PAGE_BYTES = 256 << 10


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An engine that brings its file up to date after a megabyte of changes."""
    monkeypatch.setattr(engines, "CHECKPOINT_WAL", "1MB")
    opened = Engine(tmp_path, Limits(threads=1, memory_mb=256))
    yield opened
    opened.close()


def load(engine: Engine, first: int) -> None:
    """Rows whose text cannot be made smaller."""
    with engine.cursor() as cursor, engine.writing(cursor):
        cursor.execute(f"INSERT INTO store.main.t SELECT i, md5(i::VARCHAR) FROM range({first}, {first + ROWS}) r(i)")


def kept_bytes(engine: Engine) -> int:
    with engine.cursor() as cursor:
        found = cursor.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchone()
    assert found is not None
    return int(found[0])


def limit(engine: Engine) -> object:
    with engine.cursor() as cursor:
        return cursor.execute("SELECT current_setting('memory_limit')").fetchone()


def test_pages_of_the_file_do_not_stay_in_memory_as_the_file_grows(engine: Engine) -> None:
    before = limit(engine)
    with engine.cursor() as cursor:
        cursor.execute("CREATE TABLE store.main.t (i BIGINT, text VARCHAR)")
    kept = []
    for turn in range(6):
        load(engine, turn * ROWS)
        kept.append(kept_bytes(engine))
    file_bytes = (engine.scratch.parent / engines.FILE_NAME).stat().st_size
    assert file_bytes > 20 * PAGE_BYTES, "all of it was brought into the file"
    assert kept[-1] <= kept[0] + 2 * PAGE_BYTES
    assert limit(engine) == before
    with engine.cursor() as cursor:
        assert cursor.execute("SELECT count(DISTINCT text) FROM store.main.t").fetchone() == (6 * ROWS,)


def test_what_a_reader_is_in_the_midst_of_is_not_taken_from_it(engine: Engine) -> None:
    with engine.cursor() as cursor:
        cursor.execute("CREATE TABLE store.main.t (i BIGINT, text VARCHAR)")
    load(engine, 0)
    with engine.cursor() as reader:
        reader.execute("SELECT i FROM store.main.t ORDER BY text")
        begun = reader.fetchmany(10)
        load(engine, ROWS)
        assert len(begun) + len(reader.fetchall()) == ROWS
