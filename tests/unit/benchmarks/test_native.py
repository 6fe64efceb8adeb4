"""The compiled scheduler core is measured only if it was made from the files that are there."""

import shutil

import pytest

from benchmarks import native


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """A folder as `make native` leaves it, without the machine code."""
    sources = shutil.ignore_patterns("*.pyc", "*.so")
    shutil.copytree(native.ROOT / "scheduler_core", tmp_path / "scheduler_core", ignore=sources)
    monkeypatch.setattr(native, "FOLDER", tmp_path)
    return tmp_path / "scheduler_core"


def test_a_compiled_core_of_these_very_files_stands(compiled, capsys):
    assert native.stands()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("change", [lambda file: file.unlink(), lambda file: file.write_text("# older\n")])
def test_one_of_other_files_is_not_measured_and_it_is_said_what_to_do(compiled, capsys, change):
    change(compiled / "session" / "session.py")
    assert not native.stands()
    assert "make native" in capsys.readouterr().err
