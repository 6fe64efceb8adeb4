"""`config`: check, show, schema, docs, as a person runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.cli import main


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KUBE_COLLECTOR_CONFIG", raising=False)
    Path("kube-collector.yaml").write_text("cluster:\n  name: prod\nlog:\n  level: debug\n")


def test_check_of_good_settings_prints_nothing_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["config", "check"]) == 0
    assert capsys.readouterr() == ("", "The settings are valid (kube-collector.yaml, 2 values set).\n")


def test_check_of_bad_settings_names_every_place(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.yaml").write_text("lgo: {}\nadmin: {port: x}\n")
    assert main.run(["config", "check", "-c", "bad.yaml"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "bad.yaml:1:1: lgo: unknown section (did you mean log?)\n" in err
    assert "bad.yaml:2:9: admin.port: must be a whole number, not 'x'\n" in err


def test_show_tells_where_each_value_comes_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["config", "show", "--changed", "--set", "admin.port=9090"]) == 0
    assert capsys.readouterr().out == (
        "KEY           VALUE  ORIGIN\n"
        "cluster.name  prod   kube-collector.yaml:2:3\n"
        "log.level     debug  kube-collector.yaml:4:3\n"
        "admin.port    9090   --set admin.port\n"
    )


def test_show_of_one_section_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["config", "show", "log", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"key": "log.level", "value": "debug", "origin": "kube-collector.yaml:4:3"},
        {"key": "log.format", "value": "auto", "origin": "default"},
    ]


@pytest.mark.parametrize(
    ("wanted", "meant"), [("lgo", "log"), ("log.levl", "log.level"), ("doris.fronten", "doris.frontend")]
)
def test_show_of_a_key_that_does_not_exist_says_what_was_meant(
    wanted: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(["config", "show", wanted]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"Error: there is no setting {wanted} (did you mean {meant}?)\n")


def test_schema_and_docs_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["config", "schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "kube-collector settings"
    assert main.run(["config", "docs"]) == 0
    assert capsys.readouterr().out.startswith("# Settings\n")


def test_version_is_one_line_or_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("kube-collector ")
    assert main.run(["version", "-o", "json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"version", "python", "platform"}
