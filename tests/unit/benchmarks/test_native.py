"""The compiled scheduler core is measured only if it was made from the files that are there, and beside the interpreted one."""

import json
import shutil
import subprocess

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


BENCHMARK = """
import json, sys
import core
assert sys.argv[1] == "--once", sys.argv
for name, value in core.VALUES[sys.argv[2]]:
    print(json.dumps({"name": name, "value": value, "baseline": core.BASELINE, "ratio": 4.0, "setup": {"jobs": 3}}))
"""


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Writes a benchmark and two cores with what it finds on each; answers its lines."""

    def lines(compiled, interpreted, baseline=None):
        for folder, values in ((tmp_path / "native", compiled), (tmp_path, interpreted)):
            folder.mkdir(exist_ok=True)
            (folder / "core.py").write_text(f"VALUES = {{'scheduler': {values}}}\nBASELINE = {baseline}\n")
        (tmp_path / "benchmarks").mkdir()
        (tmp_path / "benchmarks" / "__init__.py").touch()
        (tmp_path / "benchmarks" / "__main__.py").write_text(BENCHMARK)
        monkeypatch.setattr(native, "ROOT", tmp_path)
        monkeypatch.setattr(native, "FOLDER", tmp_path / "native")
        return [json.loads(line) for line in native.lines("scheduler")]

    return lines


def test_a_figure_of_the_compiled_core_has_that_of_the_interpreted_one_as_baseline_and_in_its_setup(measured):
    one, other = measured([("placed", 50.0), ("refused", 9.0)], [("refused", 6.0), ("placed", 20.0)])
    setup = {"jobs": 3, "core": "compiled"}
    assert one == {
        "name": "placed",
        "value": 50.0,
        "baseline": 20.0,
        "ratio": 2.5,
        "setup": setup | {"interpreted": 20.0},
    }
    assert (other["name"], other["baseline"], other["ratio"]) == ("refused", 6.0, 1.5)


def test_a_baseline_of_its_own_stays(measured):
    (figure,) = measured([("placed", 50.0)], [("placed", 20.0)], baseline=12.5)
    assert (figure["baseline"], figure["ratio"], figure["setup"]["interpreted"]) == (12.5, 4.0, 20.0)


def test_beside_nothing_there_is_no_ratio(measured):
    (figure,) = measured([("placed", 50.0)], [("placed", 0.0)])
    assert (figure["baseline"], figure["ratio"]) == (0.0, None)


def test_a_benchmark_that_fails_is_an_error_and_no_end_of_figures():
    with pytest.raises(subprocess.CalledProcessError):
        list(native.lines("there_is_none"))
