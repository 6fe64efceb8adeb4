"""SHOW and DESCRIBE: what clients and people ask about the server and its tables.

Columns and their order are Doris'. What has no meaning on one node (SHOW ENGINES, SHOW WARNINGS, ..) is answered so that
clients that ask for it at their start go on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from sinks.doris_local import errors, partitions, results, schema, variables
from sinks.doris_local.catalog import INFORMATION_SCHEMA, Catalog
from sinks.doris_local.cursor import Cursor, Name
from sinks.doris_local.engine import Engine
from sinks.doris_local.information_schema import CHARSET, COLLATION, COLUMN_KEYS, TABLES, columns_of, row_count
from sinks.doris_local.listener import HOST
from sinks.doris_local.tokens import Kind, Token

BACKEND_ID = 10001

Row = tuple[object, ...]


class Show:
    """Answers SHOW and DESCRIBE for all sessions. `ports`: the backend's and the frontend's HTTP port, the SQL port."""

    def __init__(self, engine: Engine, catalog: Catalog) -> None:
        self._engine = engine
        self._catalog = catalog
        self.ports = (0, 0, 0)

    def answer(self, text: str, tokens: list[Token], database: str | None, own: dict[str, str]) -> results.Table:
        """`database` and `own` variables are the session's. Raises SqlError."""
        ask = _Ask(text, tokens, database)
        if tokens[0].is_word("DESC", "DESCRIBE", "EXPLAIN"):
            return self._describe(ask)
        ask.modifiers("FULL", "GLOBAL", "SESSION", "LOCAL", "EXTENDED", "ALL")
        kind = ask.word()
        if kind == "CREATE":
            return self._create(ask)
        if kind in ("VARIABLES", "STATUS"):
            rows = variables.everything(own).items() if kind == "VARIABLES" else ()
            return results.texts(("Variable_name", "Value"), ask.filtered(rows))
        answers = self._answers()
        if kind not in answers:
            raise errors.unsupported(f"SHOW {kind}")
        return answers[kind](ask)

    def _answers(self) -> dict[str, Callable[[_Ask], results.Table]]:
        return {
            **dict.fromkeys(("DATABASES", "SCHEMAS"), self._databases),
            "TABLES": self._tables,
            "VIEWS": self._tables,
            "TABLE": self._table_status,
            **dict.fromkeys(("COLUMNS", "FIELDS"), self._columns),
            **dict.fromkeys(("INDEX", "INDEXES", "KEYS"), self._indexes),
            "PARTITIONS": self._partitions,
            "BACKENDS": self._backends,
            "FRONTENDS": self._frontends,
            "PROC": self._proc,
            "ALTER": self._alter,
            "PROCESSLIST": lambda _: results.texts(
                ("Id", "User", "Host", "Db", "Command", "Time", "State", "Info"), ()
            ),
            **dict.fromkeys(("WARNINGS", "ERRORS"), lambda _: results.texts(("Level", "Code", "Message"), ())),
            "ENGINES": lambda _: results.texts(
                ("Engine", "Support", "Comment"), [("Olap", "YES", "Default storage engine of palo")]
            ),
            **dict.fromkeys(
                ("CHARSET", "CHARACTER"),
                lambda _: results.texts(
                    ("Charset", "Description", "Default collation", "Maxlen"),
                    [(CHARSET, "UTF-8 Unicode", COLLATION, 4)],
                ),
            ),
            "COLLATION": lambda _: results.texts(
                ("Collation", "Charset", "Id", "Default", "Compiled", "Sortlen"),
                [(COLLATION, CHARSET, 309, "Yes", "Yes", 1)],
            ),
            **dict.fromkeys(("PROCEDURE", "FUNCTION", "TRIGGERS", "EVENTS"), lambda _: results.texts(("Name",), ())),
        }

    # -- tables and columns

    def _databases(self, ask: _Ask) -> results.Table:
        names = sorted((INFORMATION_SCHEMA, *self._catalog.databases()))
        return results.texts(("Database",), ask.filtered((n,) for n in names))

    def _tables(self, ask: _Ask) -> results.Table:
        database = ask.from_database()
        if database == INFORMATION_SCHEMA:
            rows = [(table, "SYSTEM VIEW") for table in sorted(TABLES)]
        else:
            rows = [
                (name, "VIEW" if isinstance(entry.relation, schema.View) else "BASE TABLE")
                for name, entry in sorted(self._catalog.entries(database).items())
            ]
        if ask.kind == "VIEWS":
            rows = [row for row in rows if row[1] == "VIEW"]
        width = 2 if "FULL" in ask.taken else 1
        heads = (f"Tables_in_{database}", "Table_type")[:width]
        return results.texts(heads, [row[:width] for row in ask.filtered(rows)])

    def _table_status(self, ask: _Ask) -> results.Table:
        ask.expect("STATUS")
        database = ask.from_database()
        heads = ("Name", "Engine", "Version", "Row_format", "Rows", "Avg_row_length", "Data_length", "Max_data_length",
                 "Index_length", "Data_free", "Auto_increment", "Create_time", "Update_time", "Check_time", "Collation",
                 "Checksum", "Create_options", "Comment")  # fmt: skip
        rows = []
        with self._engine.cursor() as cursor:
            for name, entry in sorted(
                self._catalog.entries(database).items() if database != INFORMATION_SCHEMA else ()
            ):
                relation = entry.relation
                is_table = isinstance(relation, schema.Table)
                count = row_count(cursor, relation) if isinstance(relation, schema.Table) else None
                middle = (None,) * 9
                rows.append(
                    (
                        name,
                        "Doris" if is_table else "View",
                        None,
                        None,
                        count,
                        *middle,
                        "utf-8",
                        None,
                        None,
                        relation.comment,
                    )
                )
        return results.texts(heads, ask.filtered(rows))

    def _columns(self, ask: _Ask) -> results.Table:
        relation, columns = self._relation(*ask.from_table())
        key = COLUMN_KEYS[relation.model] if isinstance(relation, schema.Table) else ""
        full = "FULL" in ask.taken
        heads = ("Field", "Type", "Collation", "Null", "Key", "Default", "Extra", "Privileges", "Comment")
        rows = [
            (
                c.name,
                c.type,
                "",
                "YES" if c.nullable else "NO",
                key if c.key else "",
                c.default,
                c.aggregate or "",
                "",
                c.comment,
            )
            for c in columns
        ]
        kept = [place for place, head in enumerate(heads) if full or head not in ("Collation", "Privileges", "Comment")]
        return results.texts(
            [heads[place] for place in kept], [[row[place] for place in kept] for row in ask.filtered(rows)]
        )

    def _describe(self, ask: _Ask) -> results.Table:
        if ask.token.is_word("SELECT", "WITH", "VERBOSE", "ANALYZED", "PHYSICAL", "GRAPH"):
            raise errors.unsupported("EXPLAIN of a query")
        relation, columns = self._relation(*ask.name())
        plain = "NONE" if isinstance(relation, schema.Table) else ""
        rows = [
            (c.name, c.type, "Yes" if c.nullable else "No", "true" if c.key else "false", c.default,
             "" if c.key else c.aggregate or plain)
            for c in columns
        ]  # fmt: skip
        return results.texts(("Field", "Type", "Null", "Key", "Default", "Extra"), rows)

    def _relation(self, database: str, table: str) -> tuple[schema.Table | schema.View, tuple[schema.Column, ...]]:
        if database == INFORMATION_SCHEMA:
            columns = tuple(
                schema.Column(name=n, type=schema.type_of_duck(t)) for n, t in TABLES.get(table.lower(), {}).items()
            )
            if not columns:
                raise errors.unknown_table(database, table)
            return schema.View(database=database, name=table, query=""), columns
        relation = self._catalog.relation(database, table)
        with self._engine.cursor() as cursor:
            return relation, columns_of(cursor, relation)

    def _create(self, ask: _Ask) -> results.Table:
        kind = ask.word()
        if kind in ("DATABASE", "SCHEMA"):
            database = ask.qualified().name
            self._catalog.entries(database)
            return results.texts(("Database", "Create Database"), [(database, f"CREATE DATABASE `{database}`")])
        if kind not in ("TABLE", "VIEW"):
            raise errors.unsupported(f"SHOW CREATE {kind}")
        database, name = ask.name()
        relation = self._catalog.relation(database, name)
        if isinstance(relation, schema.View):
            heads = ("View", "Create View", "character_set_client", "collation_connection")
            return results.texts(heads, [(name, relation.create_text(), "utf8mb4", COLLATION)])
        if kind == "VIEW":
            raise errors.SqlError(f"'{database}.{name}' is not VIEW", 1347)
        return results.texts(("Table", "Create Table"), [(name, relation.create_text())])

    def _indexes(self, ask: _Ask) -> results.Table:
        table = self._catalog.table(*ask.from_table())
        heads = ("Table", "Non_unique", "Key_name", "Seq_in_index", "Column_name", "Collation", "Cardinality", "Sub_part",
                 "Packed", "Null", "Index_type", "Comment", "Properties")  # fmt: skip
        rows = []
        for index in table.indexes:
            properties = ", ".join(f'"{k}" = "{v}"' for k, v in index.properties)
            blank = ("",) * 5
            rows.append(
                (
                    table.name,
                    "",
                    index.name,
                    "",
                    ",".join(index.columns),
                    *blank,
                    index.using,
                    index.comment,
                    properties,
                )
            )
        return results.texts(heads, rows)

    def _partitions(self, ask: _Ask) -> results.Table:
        table = self._catalog.table(*ask.from_table())
        heads = ("PartitionId", "PartitionName", "VisibleVersion", "State", "PartitionKey", "Range", "DistributionKey",
                 "Buckets", "ReplicationNum", "DataSize")  # fmt: skip
        with self._engine.cursor() as cursor:
            spans = partitions.present(cursor, table)
        spread, buckets = ", ".join(table.hash_columns) or "RANDOM", table.buckets or "AUTO"
        rows = []
        for place, span in enumerate(spans, 1):
            key = table.partition.column if table.partition else ""
            text = f"[types: [DATETIMEV2]; keys: [{span.start}]; ..types: [DATETIMEV2]; keys: [{span.end}]; )"
            rows.append((place, span.name, 2, "NORMAL", key, text, spread, buckets, 1, f"{span.rows} rows"))
        return results.texts(heads, rows)

    # -- the cluster

    def _backends(self, _: _Ask) -> results.Table:
        heads = ("BackendId", "Host", "HeartbeatPort", "BePort", "HttpPort", "BrpcPort", "Alive", "Version")
        version = variables.DEFAULTS["version_comment"]
        return results.texts(heads, [(BACKEND_ID, HOST, 0, 0, self.ports[0], 0, "true", version)])

    def _frontends(self, _: _Ask) -> results.Table:
        heads = (
            "Name",
            "Host",
            "EditLogPort",
            "HttpPort",
            "QueryPort",
            "RpcPort",
            "Role",
            "IsMaster",
            "Alive",
            "Version",
        )
        version = variables.DEFAULTS["version_comment"]
        row = ("fe_local", HOST, 0, self.ports[1], self.ports[2], 0, "FOLLOWER", "true", "true", version)
        return results.texts(heads, [row])

    def _proc(self, ask: _Ask) -> results.Table:
        path = ask.string().strip("/")
        if path == "backends":
            return self._backends(ask)
        if path == "frontends":
            return self._frontends(ask)
        raise errors.unsupported(f"SHOW PROC '/{path}'")

    def _alter(self, ask: _Ask) -> results.Table:
        """Schema changes are done at once, so none is ever under way."""
        ask.expect("TABLE", "COLUMN")
        heads = ("JobId", "TableName", "CreateTime", "FinishTime", "IndexName", "IndexId", "OriginIndexId",
                 "SchemaVersion", "TransactionId", "State", "Msg", "Progress", "Timeout")  # fmt: skip
        return results.texts(heads, ())


class _Ask(Cursor):
    """A cursor behind the first word, the session's database, and the words taken on the way."""

    def __init__(self, text: str, tokens: list[Token], database: str | None) -> None:
        super().__init__(text, tokens)
        self.at = 1
        self._database = database
        self.taken: set[str] = set()
        self.kind = ""

    def modifiers(self, *words: str) -> None:
        while self.token.is_word(*words):
            self.taken.add(self.token.value.upper())
            self.at += 1

    def word(self) -> str:
        self.kind = self.value(Kind.WORD, expected="a kind of things").upper()
        return self.kind

    def from_table(self) -> tuple[str, str]:
        """FROM table [FROM database]."""
        if not (self.take("FROM") or self.take("IN")):
            raise self.unexpected("FROM")
        name = self.qualified()
        if self.take("FROM") or self.take("IN"):
            name = Name(self.qualified().name, name.name)
        return name.within(self._database), name.name

    def name(self) -> tuple[str, str]:
        """A table with its database."""
        name = self.qualified()
        return name.within(self._database), name.name

    def from_database(self) -> str:
        """[FROM database]."""
        if self.take("FROM") or self.take("IN"):
            return self.qualified().name
        return Name(None, "").within(self._database)

    def filtered(self, rows: Iterable[Row]) -> list[Row]:
        """The rows whose first column fits LIKE or WHERE at the statement's end, if there is one."""
        keep = self._filter()
        self.end()
        return [row for row in rows if keep(str(row[0]))]

    def _filter(self) -> Callable[[str], bool]:
        if self.take("LIKE"):
            pattern = like(self.string())
            return lambda value: pattern.fullmatch(value) is not None
        if self.take("WHERE"):
            self.identifier()
            if not self.take_symbol("="):
                raise errors.unsupported("SHOW .. WHERE other than column = 'text'")
            wanted = self.string().lower()
            return lambda value: value.lower() == wanted
        return lambda _: True


def like(pattern: str) -> re.Pattern[str]:
    """A LIKE pattern as a regular expression, matched without case as MySQL's SHOW does."""
    parts = re.findall(r"\\.|[%_]|[^\\%_]+", pattern, re.DOTALL)
    wild = {"%": ".*", "_": "."}
    return re.compile("".join(wild.get(p) or re.escape(p.removeprefix("\\")) for p in parts), re.IGNORECASE | re.DOTALL)
