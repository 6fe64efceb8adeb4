"""What a command found, in the format that was asked for: table, wide, json, yaml, csv, name.

JSON and YAML are the objects unchanged, a list always an array: scripts may rely on them. Tables are for people and may
change. CSV has the codes and numbers of the JSON, durations as milliseconds. Identifiers are never cut; only columns marked
`flexible` give way when a terminal is narrow.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from pipeline.cli import terminal
from pipeline.config.suggest import did_you_mean
from pipeline.errors import BadUsage

FORMATS = ("table", "wide", "json", "yaml", "csv", "name")


@dataclass(frozen=True)
class Column:
    """One column: its heading and how to get its text from a row: a dotted key, or a function of the row."""

    title: str
    value: str | Callable[[Any], object]
    wide: bool = False
    """Shown with `-o wide` and in CSV only."""
    right: bool = False
    """Aligned right, as numbers are."""
    flexible: bool = False
    """May be cut to the terminal's width. Never for a name a person would copy."""
    style: Callable[[Any], terminal.Style | None] | None = None
    sort: str | Callable[[Any], object] | None = None
    """What to sort by where the text would sort wrongly, such as `47m12s`."""
    code: str | Callable[[Any], object] | None = None
    """What CSV has instead of words for people: scripts compare it, and reckon with it."""
    csv: str = ""
    """What it is called in CSV, where that is not its title: `wait_ms` of a duration, whose unit must be told."""
    only_csv: bool = False
    """Left out of tables, where another column has its text."""
    heading: str = ""
    """What stands over it, where that is not its title in capitals: `--sort-by` takes the title in every language."""

    def of(self, row: Any) -> object:
        return _of(row, self.value)

    @property
    def shown(self) -> str:
        return self.heading or self.title.upper()

    def coded(self, row: Any) -> object:
        return _of(row, self.value if self.code is None else self.code)

    def sorts_by(self, row: Any) -> object:
        return _of(row, self.value if self.sort is None else self.sort)


@dataclass(frozen=True)
class Wanted:
    """How the person wants it: the values of `-o`, `--no-headers`, `--sort-by`."""

    format: str = "table"
    headers: bool = True
    sort_by: str | None = None


def check(format_: str, allowed: Sequence[str] = FORMATS) -> str:
    """The format, if it is one. Raises BadUsage."""
    if format_ not in allowed:
        raise BadUsage(
            f"-o {format_}: no such format{did_you_mean(format_, allowed)}", fix=f"Use one of {', '.join(allowed)}."
        )
    return format_


def render(
    rows: Iterable[Any],
    columns: Sequence[Column],
    wanted: Wanted | str = "table",
    *,
    name: Callable[[Any], str] | None = None,
    nothing: str = "Nothing found.",
    out: TextIO | None = None,
) -> None:
    """Prints rows (mappings or structs). `name` gives the text of `-o name`; without it the first column does. `nothing` is
    said where a table would have no rows.

    Raises BadUsage for an unknown format or sort key.
    """
    wanted = Wanted(wanted) if isinstance(wanted, str) else wanted
    check(wanted.format)
    out = out or sys.stdout
    found = _sorted(list(rows), columns, wanted.sort_by)
    if wanted.format in {"json", "yaml"}:
        render_object(found, wanted.format, out=out)
    elif wanted.format == "csv":
        _csv(found, columns, wanted.headers, out)
    elif wanted.format == "name":
        out.writelines(f"{name(row) if name else columns[0].of(row)}\n" for row in found)
    elif found:
        _table(found, _shown(columns, wanted.format), wanted.headers, out)
    else:
        terminal.hint(nothing)


def _shown(columns: Sequence[Column], format_: str) -> list[Column]:
    """Those of a table."""
    return [column for column in columns if not column.only_csv and (format_ == "wide" or not column.wide)]


def render_object(value: Any, format_: str, *, out: TextIO | None = None) -> None:
    """Prints one object (or a list) as `json` or `yaml`, unchanged."""
    out = out or sys.stdout
    if check(format_, ("json", "yaml")) == "json":
        import json

        out.write(json.dumps(value, default=_plain, indent=2, ensure_ascii=False) + "\n")
    else:
        import yaml

        yaml.safe_dump(_plain(value), out, sort_keys=False, allow_unicode=True, width=1_000_000)


def _plain(value: Any) -> Any:
    """Structs as mappings. An answer over HTTP has none, so that what knows them is not imported for it."""
    import msgspec

    return msgspec.to_builtins(value)


def lookup(row: Any, key: str) -> Any:
    """The value at a dotted key of a mapping or struct; None where there is nothing."""
    for step in key.split("."):
        row = row.get(step) if isinstance(row, Mapping) else getattr(row, step, None)
    return row


def _of(row: Any, value: str | Callable[[Any], object]) -> object:
    return value(row) if callable(value) else lookup(row, value)


def _sorted(rows: list[Any], columns: Sequence[Column], sort_by: str | None) -> list[Any]:
    """Sorted by a column's title or a key of the rows; a leading `-` turns it round; rows without a value go last."""
    if not sort_by:
        return rows
    key, descending = sort_by.removeprefix("-"), sort_by.startswith("-")
    titles = {column.title.lower(): column for column in columns}
    column = titles.get(key.lower())
    if column is None and rows and all(lookup(row, key) is None for row in rows):
        raise BadUsage(
            f"--sort-by {key}: no such column{did_you_mean(key, titles)}", fix=f"Columns: {', '.join(titles)}."
        )
    get = column.sorts_by if column else lambda row: lookup(row, key)
    having = [row for row in rows if get(row) is not None]
    having.sort(key=lambda row: _orderable(get(row)), reverse=descending)
    return having + [row for row in rows if get(row) is None]


def _orderable(value: Any) -> tuple[int, float, str]:
    """Numbers before texts, each in their own order, so that a mixed column sorts at all."""
    return (0, float(value), "") if isinstance(value, int | float) else (1, 0.0, str(value))


def _text(value: object) -> str:
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ",".join(str(item) for item in value) or "-"
    return " ".join(str(value).split())


def _csv(rows: list[Any], columns: Sequence[Column], headers: bool, out: TextIO) -> None:
    writer = csv.writer(out, lineterminator="\n")
    if headers:
        writer.writerow([column.csv or column.title.lower().replace(" ", "_") for column in columns])
    for row in rows:
        values = [column.coded(row) for column in columns]
        writer.writerow(
            ["" if value is None else _text(value) if not isinstance(value, str) else value for value in values]
        )


def _table(rows: list[Any], columns: list[Column], headers: bool, out: TextIO) -> None:
    texts = [[_text(column.of(row)) for column in columns] for row in rows]
    widths = [
        max([terminal.cells(line[at]) for line in texts] + ([terminal.cells(column.shown)] if headers else []))
        for at, column in enumerate(columns)
    ]
    widths = _fitted(widths, columns, terminal.width(out))
    if headers:
        out.write(_line([column.shown for column in columns], columns, widths, [None] * len(columns), out))
    for row, line in zip(rows, texts, strict=True):
        styles = [column.style(row) if column.style else None for column in columns]
        out.write(_line(line, columns, widths, styles, out))


def _fitted(widths: list[int], columns: list[Column], room: int | None) -> list[int]:
    """Takes what does not fit from the flexible columns, the widest first, down to 12 each."""
    if room is None:
        return widths
    widths = list(widths)
    over = sum(widths) + 2 * (len(widths) - 1) - room
    for at in sorted((at for at, column in enumerate(columns) if column.flexible), key=lambda at: -widths[at]):
        taken = max(0, min(over, widths[at] - 12))
        widths[at] -= taken
        over -= taken
    return widths


def _line(
    texts: list[str], columns: list[Column], widths: list[int], styles: Sequence[terminal.Style | None], out: TextIO
) -> str:
    parts = []
    for at, (text, column, width, style) in enumerate(zip(texts, columns, widths, styles, strict=True)):
        text = terminal.cut(text, width) if column.flexible else text
        pad = " " * (width - terminal.cells(text))
        painted = terminal.paint(text, style, out)
        last = at == len(columns) - 1
        parts.append(pad + painted if column.right else painted if last else painted + pad)
    return "  ".join(parts).rstrip() + "\n"
