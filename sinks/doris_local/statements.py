"""One SQL statement of a session: what kind it is, and who answers it."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence

import duckdb
import msgspec

from sinks.doris_local import ddl, errors, insert, results, translate, variables
from sinks.doris_local.access import USER
from sinks.doris_local.catalog import INFORMATION_SCHEMA, Catalog
from sinks.doris_local.cursor import Cursor, Name
from sinks.doris_local.definitions import Definitions, relation_columns
from sinks.doris_local.engine import Engine, visible
from sinks.doris_local.faults import Faults
from sinks.doris_local.information_schema import TABLES, InformationSchema
from sinks.doris_local.labels import Labels
from sinks.doris_local.listener import HOST
from sinks.doris_local.shapes import Shapes
from sinks.doris_local.show import Show
from sinks.doris_local.tokens import Kind, Token, tokenize


class Session(msgspec.Struct):
    """What one client has set."""

    connection_id: int = 0
    database: str | None = None
    variables: dict[str, str] = msgspec.field(default_factory=dict)


class Statements:
    """Answers statements; safe to call from many threads, each with its own session."""

    def __init__(
        self, engine: Engine, catalog: Catalog, labels: Labels, definitions: Definitions, faults: Faults
    ) -> None:
        self._engine = engine
        self._catalog = catalog
        self._labels = labels
        self._definitions = definitions
        self._faults = faults
        self._information_schema = InformationSchema(engine, catalog)
        self._shapes = Shapes()
        self._lock = threading.Lock()
        self._running: set[duckdb.DuckDBPyConnection] = set()
        self.show = Show(engine, catalog)

    def use(self, session: Session, database: str) -> None:
        """Raises SqlError if there is no such database."""
        if database != INFORMATION_SCHEMA:
            self._catalog.entries(database)
        session.database = database

    def execute(self, session: Session, text: str) -> results.Table | results.Done:
        """Raises SqlError, or duckdb.Error for `explain` to put into words."""
        tokens = tokenize(text)
        first = tokens[0]
        if first.is_word("SELECT", "WITH") or first.is_symbol("("):
            return self._select(session, text, tokens)
        if first.is_word("SHOW", "DESC", "DESCRIBE", "EXPLAIN"):
            return self.show.answer(text, tokens, session.database, session.variables)
        return self._effect(session, text, tokens)

    def _effect(self, session: Session, text: str, tokens: list[Token]) -> results.Done:
        first = tokens[0]
        if first.is_word("CREATE", "DROP", "ALTER", "TRUNCATE"):
            self._definitions.execute(ddl.parse(text), session.database)
        elif first.is_word("INSERT"):
            return self._insert(session, text, tokens)
        elif first.is_word("USE"):
            cursor = Cursor(text, tokens)
            cursor.expect("USE")
            self.use(session, cursor.qualified().name)
            cursor.end()
        elif first.is_word("SET"):
            variables.assign(session.variables, text, tokens)
        elif first.is_word("COMMIT", "ROLLBACK"):
            pass  # every statement is its own transaction, so there is nothing left to end
        elif first.kind is Kind.END:
            raise errors.SqlError("Query was empty", 1065, "42000")
        else:
            raise errors.unsupported(f"statement {first.value.upper()}")
        return results.Done()

    def fields(self, session: Session, table: str) -> Sequence[results.Column]:
        """The columns of a table, as COM_FIELD_LIST wants them."""
        text = f"SELECT * FROM `{table}` LIMIT 0"
        result = self._select(session, text, tokenize(text))
        result.close()
        return result.columns

    def explain(self, error: duckdb.Error) -> errors.SqlError:
        """A failure of DuckDB in Doris' form."""
        self._engine.watch(error)
        if isinstance(error, duckdb.InterruptException):
            return errors.SqlError(
                "errCode = 2, detailMessage = query is timeout, killed by timeout checker", 1317, "70100"
            )
        text = str(error).split("\n\n")[0].split("\nCandidate")[0]
        column = re.search(r'Referenced column "([^"]+)" (?:was )?not found', text) or re.search(
            r'does not have a column named "([^"]+)"', text
        )
        if column:
            return errors.refused(f"Unknown column '{column[1]}' in 'table list'")
        macro = re.search(r'Macro "?(?:fn\.)?(\w+)"?\(\) does not support the supplied arguments', text)
        if macro:
            return errors.refused(f"Can not found function '{macro[1]}' with these argument types")
        return errors.refused(text.replace("\n", " "))

    def _select(self, session: Session, text: str, tokens: list[Token]) -> results.Table:
        if self._faults.hit("server_busy"):
            raise errors.refused("There is no scanNode Backend available.[10001: not alive]")
        known = (session.database, self._catalog.version)
        query = self._shapes.query(text, tokens, self._scope(session), known)
        cursor = self._engine.cursor()
        with self._lock:
            self._running.add(cursor)
        timer = threading.Timer(variables.timeout_s(session.variables), cursor.interrupt)
        timer.daemon = True

        def close() -> None:
            timer.cancel()
            with self._lock:
                self._running.discard(cursor)
            cursor.close()

        try:
            timer.start()
            cursor.execute(query.sql)
        except BaseException:
            close()
            raise
        return results.from_duckdb(cursor, query.labels, close)

    def interrupt(self) -> None:
        """End all queries that are running."""
        with self._lock:
            for cursor in self._running:
                cursor.interrupt()

    def _insert(self, session: Session, text: str, tokens: list[Token]) -> results.Done:
        target = insert.read(text, tokens)
        table = self._catalog.table(target.table.within(session.database), target.table.name)
        return insert.run(self._engine, self._labels, table, target, self._scope(session))

    def _scope(self, session: Session) -> translate.Scope:
        def resolve(database: str | None, table: str) -> tuple[str, str, str]:
            database = Name(database, table).within(session.database)
            if database.lower() == INFORMATION_SCHEMA:
                return self._information_schema.resolve(table)
            self._catalog.relation(database, table)
            return visible(database, table)

        def columns(database: str | None, table: str) -> set[str]:
            database = Name(database, table).within(session.database)
            if database.lower() == INFORMATION_SCHEMA:
                return {column.lower() for column in TABLES[table.lower()]}
            return relation_columns(self._engine, self._catalog, database, table)

        user = f"'{USER}'@'{HOST}'"
        facts = {"database": session.database, "schema": session.database, "version": variables.DEFAULTS["version"],
                 "user": user, "current_user": user, "session_user": user,
                 "connection_id": session.connection_id}  # fmt: skip
        return translate.Scope(resolve, columns, facts, lambda name: variables.value(session.variables, name))
