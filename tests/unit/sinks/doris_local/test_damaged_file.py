"""A database file that was cut or has a bad byte: it opens, or a person is told what to do."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipeline import errors
from sinks.doris_local.catalog import Catalog
from sinks.doris_local.engine import FILE_NAME, Engine, Limits

LIMITS = Limits(threads=1, memory_mb=512)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database of some blocks."""
    folder = tmp_path_factory.mktemp("whole")
    engine = Engine(folder, LIMITS)
    Catalog(engine)
    with engine.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE store.main.filler AS SELECT range AS n, md5(range::VARCHAR) AS text FROM range(50000)"
        )
    engine.close()
    return folder


def opened(folder: Path) -> str:
    """Empty if it can be opened, else what a person is told."""
    try:
        engine = Engine(folder, LIMITS)
    except errors.CheckFailed as error:
        return str(error)
    try:
        Catalog(engine)
    except errors.CheckFailed as error:
        return str(error)
    finally:
        engine.close()
    return ""


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_file_that_was_cut_says_what_to_do(whole: Path, tmp_path: Path, share: float) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "cut"))
    data = (folder / FILE_NAME).read_bytes()
    (folder / FILE_NAME).write_bytes(data[: int(share * len(data))])
    said = opened(folder)
    if share < 0.1:  # else perhaps only a table is cut, which a query finds out
        assert "cannot be used" in said
    assert not said or "move it away" in said


def test_a_bad_byte_anywhere_in_its_heads_says_what_to_do(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "bad"))
    data = (folder / FILE_NAME).read_bytes()
    told = 0
    for at in range(0, 3 * 4096, 509):
        bad = bytearray(data)
        bad[at] ^= 0xFF
        (folder / FILE_NAME).write_bytes(bad)
        said = opened(folder)
        assert not said or "move it away" in said
        told += bool(said)
    assert told > 10
