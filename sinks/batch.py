"""A batch on its way: rows of all tables, the highest version of each key, as lines in loads that can be repeated.

Pure. What is read in one turn of the loader becomes one `Batch`. Its loads are fixed when it is made, so that every try
sends the same bytes under the same label; progress comes last, so that whoever reads it finds everything before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pipeline.records import dead_letters, rows, tables
from pipeline.records.rows import Row
from sinks.base import Bad
from sinks.doris import lines


class Load(NamedTuple):
    """The lines of one load."""

    table: str
    lines: list[bytes]


class Batch:
    """Collects rows, then gives the loads. One thread."""

    def __init__(self) -> None:
        self._newest: dict[str, dict[tuple[Any, ...], Row]] = {}
        self.bad: list[Bad] = []
        self.rows = 0

    def add(self, row: Row) -> None:
        """Keeps the row if no row of its key with a higher version is here; of equal versions the later one."""
        try:
            key = rows.key_of(row)
        except KeyError as missing:
            self.bad.append(Bad(row.table, repr(row).encode(errors="replace"), f"no table or key column {missing}"))
            return
        known = self._newest.setdefault(row.table, {})
        before = known.get(key)
        if before is None or before.version <= row.version:
            known[key] = row
            self.rows += before is None

    def loads(self) -> list[Load]:
        """One load a table, progress last; rows that no line can be made of join `bad`."""
        order = sorted(self._newest, key=lambda table: table == tables.PROGRESS.name)
        made = (Load(table, self._lines(self._newest[table].values())) for table in order)
        return [load for load in made if load.lines]

    def _lines(self, wanted: Iterable[Row]) -> list[bytes]:
        made = []
        for row in wanted:
            try:
                made.append(lines.line(row))
            except (TypeError, ValueError, OverflowError) as error:
                self.bad.append(Bad(row.table, repr(row).encode(errors="replace"), str(error)))
        return made


def dead_letter(bad: Bad, cluster: str, now_ms: int) -> Row:
    """The row that keeps an input which could not be used."""
    return dead_letters.row("loader", bad.kind, bad.data, bad.error, cluster=cluster, observed_ms=now_ms)


def progress(cluster: str, log_at_ms: int, now_ms: int) -> Row:
    """How far the loader itself has come."""
    values = {"cluster": cluster, "stage": "loader", "log_at": log_at_ms, "loaded_at": now_ms}
    return Row(tables.PROGRESS.name, now_ms, values)
