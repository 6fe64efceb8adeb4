"""What the parts of one process share about a log."""

from __future__ import annotations

import gc
from pathlib import Path

from pipeline.log.folders import Shared


class _Thing:
    pass


def test_a_folder_has_one_object_however_its_path_is_written(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "log")
    shared = Shared(_Thing)
    held = shared.of(tmp_path / "log")
    assert shared.of(tmp_path / "other" / ".." / "log") is held
    assert shared.of(tmp_path / "link") is held
    assert shared.of(tmp_path / "other") is not held


def test_an_object_that_nobody_holds_is_made_anew(tmp_path: Path) -> None:
    made: list[int] = []

    def make() -> _Thing:
        made.append(1)
        return _Thing()

    shared = Shared(make)
    shared.of(tmp_path)
    gc.collect()
    held = shared.of(tmp_path)
    assert len(made) == 2
    assert shared.of(tmp_path) is held
