"""One SQL statement of a session: what kind it is, and who answers it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import duckdb
import msgspec

from sinks.doris_local import ddl, errors, results, translate
from sinks.doris_local.catalog import INFORMATION_SCHEMA, Catalog
from sinks.doris_local.definitions import Definitions
from sinks.doris_local.engine import Engine, visible
from sinks.doris_local.faults import Faults
from sinks.doris_local.tokens import tokenize


class Session(msgspec.Struct):
    """What one client has set."""

    connection_id: int = 0
    database: str | None = None
    variables: dict[str, str] = msgspec.field(default_factory=dict)


class Statements:
    """Answers statements; safe to call from many threads, each with its own session."""

    def __init__(self, engine: Engine, catalog: Catalog, definitions: Definitions, faults: Faults) -> None:
        self._engine = engine
        self._catalog = catalog
        self._definitions = definitions
        self._faults = faults

    def use(self, session: Session, database: str) -> None:
        """Raises SqlError if there is no such database."""
        database = database.removeprefix("internal.")
        if database != INFORMATION_SCHEMA:
            self._catalog.entries(database)
        session.database = database

    def execute(self, session: Session, text: str) -> results.Table | results.Done:
        """Raises SqlError, or duckdb.Error for `explain` to put into words."""
        tokens = tokenize(text)
        first = tokens[0]
        if first.is_word("SELECT", "WITH") or first.is_symbol("("):
            return self._select(session, text)
        if first.is_word("CREATE", "DROP", "ALTER", "TRUNCATE"):
            self._definitions.execute(ddl.parse(text), session.database)
            return results.Done()
        if first.is_word("USE"):
            self.use(session, "".join(t.value for t in tokens[1:-1] if not t.is_symbol(";")))
            return results.Done()
        if first.is_word("SET"):
            return results.Done()
        raise errors.unsupported(f"statement {first.value.upper()}")

    def fields(self, session: Session, table: str) -> Sequence[results.Column]:
        return self._select(session, f"SELECT * FROM `{table}` LIMIT 0").columns

    def explain(self, error: duckdb.Error) -> errors.SqlError:
        """A failure of DuckDB in Doris' form."""
        text = str(error).split("\n\n")[0]
        unknown = re.search(r'Referenced column "([^"]+)" (was )?not found', text)
        if unknown:
            return errors.refused(f"Unknown column '{unknown[1]}' in 'table list'")
        return errors.refused(text.replace("\n", " "))

    def _select(self, session: Session, text: str) -> results.Table:
        query = translate.query(text, lambda database, table: self._resolve(session, database, table))
        cursor = self._engine.cursor()
        try:
            cursor.execute(query.sql)
        except BaseException:
            cursor.close()
            raise
        return results.from_duckdb(cursor, query.labels, cursor.close)

    def _resolve(self, session: Session, database: str | None, table: str) -> str:
        database = database or session.database
        if database is None:
            raise errors.no_database()
        self._catalog.relation(database, table)
        return visible(database, table)
