"""The questions of a page of documentation: a heading, its SQL, and the table of its answer as Markdown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "read-the-views.md"
_SQL = re.compile(r"```sql\n(.*?)```", re.DOTALL)


class Question(NamedTuple):
    """`answer`: the lines of the table; none stand for no row."""

    title: str
    statement: str
    answer: tuple[str, ...]


def questions(text: str) -> list[Question]:
    """Every heading of the second level that has a statement."""
    found = []
    for part in text.split("\n## ")[1:]:
        title, _, body = part.partition("\n")
        statement = _SQL.search(body)
        if statement is not None:
            lines = (line for line in body[statement.end() :].splitlines() if line.startswith("|"))
            found.append(Question(title, statement[1].strip(), tuple(lines)))
    return found


def table(rows: list[dict[str, Any]]) -> tuple[str, ...]:
    """Rows as the page shows them."""
    if not rows:
        return ()
    lines = [list(rows[0]), ["---"] * len(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
    return tuple(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any) -> str:
    """Whole numbers without a point, whatever type the warehouse rounds to; an empty cell is NULL or an empty text."""
    if value is None:
        return ""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    return str(int(number)) if number.is_integer() else str(number)
