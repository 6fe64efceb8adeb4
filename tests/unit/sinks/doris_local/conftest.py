"""A local Doris without its sockets: statements and loads called directly."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sinks.doris_local import load_headers, results, translate
from sinks.doris_local.catalog import Catalog
from sinks.doris_local.definitions import Definitions
from sinks.doris_local.engine import Engine, Limits
from sinks.doris_local.faults import Faults
from sinks.doris_local.labels import Labels
from sinks.doris_local.load import Loader, Result
from sinks.doris_local.statements import Session, Statements

LINES = {"format": "json", "read_json_by_line": "true"}


class Store:
    """One database `kube`, in use. `rows` gives cells as the text a client gets, None for NULL."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers = itertools.count()
        self._open()

    def _open(self) -> None:
        folder = self.folder
        self.engine = Engine(folder, Limits(threads=1, memory_mb=512))
        self.catalog = Catalog(self.engine)
        self.labels = Labels(self.engine)
        definitions = Definitions(self.engine, self.catalog, self.labels)
        definitions.rebuild()
        self.statements = Statements(self.engine, self.catalog, self.labels, definitions, Faults())
        self.session = Session()
        self.loader = Loader(self.engine, self.catalog, self.labels)

    def run(self, *texts: str) -> None:
        for text in texts:
            result = self.statements.execute(self.session, text)
            if isinstance(result, results.Table):
                result.close()

    def table(self, text: str) -> tuple[list[results.Column], list[tuple[str | None, ...]]]:
        result = self.statements.execute(self.session, text)
        assert isinstance(result, results.Table)
        try:
            rows = [tuple(None if cell is None else cell.decode() for cell in row) for row in result.rows]
        finally:
            result.close()
        return list(result.columns), rows

    def rows(self, text: str) -> list[tuple[str | None, ...]]:
        return self.table(text)[1]

    def value(self, expression: str) -> str | None:
        ((value,),) = self.rows(f"SELECT {expression}")
        return value

    def load(self, table: str, *rows: object, body: bytes | None = None, **headers: str) -> Result:
        """Stream Load of rows (or of a body) with these headers; `max_filter_ratio` and so on with underscores."""
        label = headers.pop("label", f"test-{next(self._numbers)}")
        definition = self.catalog.table("kube", table)
        order = load_headers.order(definition, label, {**LINES, **headers}, translate.condition)
        file = self.folder / "scratch" / label
        file.write_bytes("\n".join(map(json.dumps, rows)).encode() if body is None else body)
        self.labels.begin("kube", label)
        result = Result()
        try:
            self.loader.run(order, file, result)
        except BaseException:
            self.labels.free("kube", label)
            raise
        return result

    def reopen(self) -> None:
        """As a restart: everything in memory is made anew from the files."""
        self.close()
        self._open()
        self.run("USE kube")

    def close(self) -> None:
        self.engine.close()


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One for all tests of a file that change nothing, or only tables of their own."""
    store = Store(tmp_path_factory.mktemp("doris"))
    store.run("CREATE DATABASE kube", "USE kube")
    yield store
    store.close()


@pytest.fixture
def store(shared_store: Store) -> Store:
    """The same with an empty database: opening one takes half a second."""
    shared_store.run("DROP DATABASE kube", "CREATE DATABASE kube", "USE kube")
    return shared_store


@pytest.fixture
def own_store(tmp_path: Path) -> Iterator[Store]:
    """One of its own, to be closed and opened again with `reopened`."""
    store = Store(tmp_path)
    store.run("CREATE DATABASE kube", "USE kube")
    yield store
    store.close()
