"""The formats: tables for people, everything else for programs."""

from __future__ import annotations

import io
import json
from typing import Any

import msgspec
import pytest
import yaml

from pipeline.cli import output, terminal
from pipeline.cli.output import Column, Wanted
from pipeline.errors import BadUsage


class Job(msgspec.Struct):
    name: str
    wait_ms: int
    reason: dict[str, Any] | None = None


ROWS: list[Any] = [
    {"name": "train-b", "wait_ms": 90_000, "reason": {"code": "quota"}, "tags": ["x", "y"], "late": True},
    {"name": "train-a", "wait_ms": None, "reason": None, "tags": [], "late": False},
    {"name": "推理-c", "wait_ms": 3_000, "reason": {"code": "insufficient_resource"}, "tags": ["z"], "late": None},
]
COLUMNS = (
    Column("name", "name"),
    Column("wait", "wait_ms", right=True),
    Column("reason", "reason.code", flexible=True),
    Column("tags", "tags", wide=True),
    Column("late", lambda row: row["late"], style=lambda row: "red" if row["late"] else None),
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def rendered(wanted: Wanted | str = "table", rows: Any = ROWS, out: io.StringIO | None = None, **options: Any) -> str:
    out = out or io.StringIO()
    output.render(rows, COLUMNS, wanted, out=out, **options)
    return out.getvalue()


def test_a_table_is_aligned_by_the_width_of_its_characters() -> None:
    assert rendered() == (
        "NAME      WAIT  REASON                 LATE\n"
        "train-b  90000  quota                  yes\n"
        "train-a      -  -                      no\n"
        "推理-c    3000  insufficient_resource  -\n"
    )


def test_wide_shows_every_column_and_no_headers_leaves_out_the_first_line() -> None:
    assert rendered(Wanted("wide", headers=False)).splitlines()[0].split() == [
        "train-b",
        "90000",
        "quota",
        "x,y",
        "yes",
    ]


def test_json_is_the_objects_unchanged_and_always_an_array() -> None:
    assert json.loads(rendered("json")) == ROWS
    assert json.loads(rendered("json", rows=[])) == []
    assert json.loads(rendered("json", rows=[Job("a", 1)])) == [{"name": "a", "wait_ms": 1, "reason": None}]
    assert "推理" in rendered("json")


def test_yaml_is_the_same_objects() -> None:
    assert yaml.safe_load(rendered("yaml")) == ROWS
    assert "推理-c" in rendered("yaml")


def test_csv_has_all_columns_and_empty_cells_for_nothing() -> None:
    assert rendered("csv") == (
        "name,wait,reason,tags,late\n"
        'train-b,90000,quota,"x,y",yes\n'
        "train-a,,,-,no\n"
        "推理-c,3000,insufficient_resource,z,\n"
    )


def test_a_column_may_have_another_name_and_value_in_csv_and_another_heading_in_a_table() -> None:
    waits = (Column("wait", lambda row: f"{row['ms'] // 1000}s", code="ms", csv="wait_ms", heading="等待"),)
    texts = {}
    for wanted in ("csv", "table"):
        out = io.StringIO()
        output.render([{"ms": 90_000}], waits, wanted, out=out)
        texts[wanted] = out.getvalue()
    assert texts == {"csv": "wait_ms\n90000\n", "table": "等待\n90s\n"}


def test_that_there_is_nothing_is_said_in_words_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.reset()
    output.render([], COLUMNS, nothing="没有找到。")
    assert capsys.readouterr() == ("", "没有找到。\n")


def test_names_are_one_a_line_in_the_form_that_is_given() -> None:
    assert rendered("name") == "train-b\ntrain-a\n推理-c\n"
    assert rendered("name", name=lambda row: f"job/{row['name']}").startswith("job/train-b\n")


@pytest.mark.parametrize(
    ("sort_by", "names"),
    [
        ("name", ["train-a", "train-b", "推理-c"]),
        ("WAIT", ["推理-c", "train-b", "train-a"]),
        ("-wait", ["train-b", "推理-c", "train-a"]),
        ("reason.code", ["推理-c", "train-b", "train-a"]),
    ],
)
def test_rows_are_sorted_by_column_or_key_and_those_without_go_last(sort_by: str, names: list[str]) -> None:
    assert rendered(Wanted("name", sort_by=sort_by)).splitlines() == names


def test_a_column_may_sort_by_something_else_than_its_text() -> None:
    waits = Column("wait", lambda row: f"{row['s']}s", sort="s")
    out = io.StringIO()
    output.render([{"s": 9}, {"s": 10}], [waits], Wanted("name", sort_by="-wait"), out=out)
    assert out.getvalue() == "10s\n9s\n"


def test_an_unknown_sort_key_or_format_is_bad_usage_with_a_suggestion() -> None:
    with pytest.raises(BadUsage, match=r"--sort-by reson: no such column \(did you mean reason\?\)"):
        rendered(Wanted("table", sort_by="reson"))
    with pytest.raises(BadUsage, match=r"-o jsno: no such format \(did you mean json\?\)"):
        rendered("jsno")


def test_a_narrow_terminal_cuts_only_what_may_be_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "width", lambda stream: 36)
    lines = rendered().splitlines()
    assert lines[3] == "推理-c    3000  insufficient_…  -"
    monkeypatch.setattr(terminal, "width", lambda stream: 10)
    assert [line.split()[0] for line in rendered().splitlines()[1:]] == ["train-b", "train-a", "推理-c"]


def test_a_pipe_is_never_cut() -> None:
    long = [{"name": "n" * 300, "wait_ms": 1, "reason": {"code": "r" * 300}, "tags": [], "late": None}]
    assert "n" * 300 in rendered(rows=long) and "r" * 300 in rendered(rows=long)


def test_line_breaks_inside_a_value_do_not_break_the_table() -> None:
    assert (
        len(rendered(rows=[{"name": "a\nb", "wait_ms": 1, "reason": None, "tags": [], "late": None}]).splitlines()) == 2
    )


def test_an_empty_table_says_so_on_stderr_unless_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.reset()
    assert rendered(rows=[]) == ""
    assert capsys.readouterr().err == "Nothing found.\n"
    terminal.wishes.quiet = True
    assert rendered(rows=[]) == ""
    assert capsys.readouterr().err == ""
    terminal.reset()


@pytest.mark.parametrize(
    ("color", "no_color", "out", "colored"),
    [
        ("auto", "", io.StringIO, False),
        ("auto", "", Terminal, True),
        ("auto", "1", Terminal, False),
        ("always", "1", io.StringIO, True),
        ("never", "", Terminal, False),
    ],
)
def test_colour_follows_the_option_then_no_color_then_the_terminal(
    color: str, no_color: str, out: type[io.StringIO], colored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm")
    terminal.reset()
    terminal.wishes.color = color
    assert ("\x1b[31myes\x1b[0m" in rendered(out=out())) is colored
    terminal.reset()


@pytest.mark.parametrize(
    ("text", "room", "short"), [("abcdef", 6, "abcdef"), ("abcdef", 4, "abc…"), ("推理任务", 5, "推理…")]
)
def test_a_text_is_cut_at_whole_characters(text: str, room: int, short: str) -> None:
    assert terminal.cut(text, room) == short
    assert terminal.cells(short) <= room
