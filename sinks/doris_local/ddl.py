"""Statements that define things, read by recursive descent into small records; nothing is executed or looked up here.

The grammar is Doris' own, clause order included: what Doris' parser refuses is refused, with the token that was not
expected.
"""

from __future__ import annotations

import msgspec

from sinks.doris_local import errors, schema
from sinks.doris_local.cursor import Name
from sinks.doris_local.ddl_table import CreateTable, TableCursor
from sinks.doris_local.tokens import Kind


class CreateDatabase(msgspec.Struct, frozen=True):
    name: str
    if_not_exists: bool


class DropDatabase(msgspec.Struct, frozen=True):
    name: str
    if_exists: bool


class CreateView(msgspec.Struct, frozen=True):
    """`mode` is create, replace, alter or if_not_exists."""

    name: Name
    mode: str
    columns: tuple[tuple[str, str], ...]
    comment: str
    query: str


class Drop(msgspec.Struct, frozen=True):
    """`kind` is TABLE or VIEW."""

    kind: str
    name: Name
    if_exists: bool


class Truncate(msgspec.Struct, frozen=True):
    name: Name
    partitions: tuple[str, ...]


class AddColumns(msgspec.Struct, frozen=True):
    """`after`: the column to follow, "" for the first place, None for the last."""

    columns: tuple[schema.Column, ...]
    after: str | None = None


class DropColumn(msgspec.Struct, frozen=True):
    column: str


class DropPartition(msgspec.Struct, frozen=True):
    partition: str
    if_exists: bool


class AlterTable(msgspec.Struct, frozen=True):
    name: Name
    changes: tuple[AddColumns | DropColumn | DropPartition, ...]


Statement = CreateDatabase | DropDatabase | CreateTable | CreateView | Drop | Truncate | AlterTable


def parse(text: str) -> Statement:
    """One CREATE, DROP, ALTER or TRUNCATE statement. Raises SqlError, in Doris' words, for anything else."""
    cursor = _StatementCursor(text)
    statement = cursor.statement()
    cursor.end()
    return statement


class _StatementCursor(TableCursor):
    def statement(self) -> Statement:
        if self.take("CREATE"):
            return self.create()
        if self.take("DROP"):
            return self.drop()
        if self.take("TRUNCATE"):
            self.expect("TABLE")
            return Truncate(self.qualified(), self.names_after_partition())
        if self.take("ALTER"):
            return self.alter()
        raise self.unexpected("{'ALTER', 'CREATE', 'DROP', 'TRUNCATE'}")

    def create(self) -> Statement:
        if self.take("DATABASE") or self.take("SCHEMA"):
            if_not_exists = self.take("IF", "NOT", "EXISTS")
            name = self.qualified().name
            if self.take("PROPERTIES"):
                raise errors.unsupported("CREATE DATABASE .. PROPERTIES")
            return CreateDatabase(name, if_not_exists)
        if self.take("OR", "REPLACE"):
            self.expect("VIEW")
            return self.view("replace")
        if self.take("VIEW"):
            return self.view("if_not_exists" if self.take("IF", "NOT", "EXISTS") else "create")
        if self.token.is_word("EXTERNAL", "TEMPORARY", "MATERIALIZED", "USER", "ROUTINE", "ROLE", "INDEX", "CATALOG"):
            raise errors.unsupported(f"CREATE {self.token.value.upper()}")
        self.expect("TABLE")
        return self.table()

    def drop(self) -> Statement:
        if self.take("DATABASE") or self.take("SCHEMA"):
            if_exists = self.take("IF", "EXISTS")
            database = self.qualified().name
            self.take("FORCE")
            return DropDatabase(database, if_exists)
        kind = "VIEW" if self.take("VIEW") else "TABLE"
        if kind == "TABLE":
            self.expect("TABLE")
        if_exists = self.take("IF", "EXISTS")
        name = self.qualified()
        if kind == "TABLE":
            self.take("FORCE")
        return Drop(kind, name, if_exists)

    def names_after_partition(self) -> tuple[str, ...]:
        if self.take("PARTITIONS") or self.take("PARTITION"):
            return self.names() if self.token.is_symbol("(") else (self.identifier(),)
        return ()

    def alter(self) -> Statement:
        if self.take("VIEW"):
            return self.view("alter")
        self.expect("TABLE")
        name = self.qualified()
        changes = [self.change()]
        while self.take_symbol(","):
            changes.append(self.change())
        return AlterTable(name, tuple(changes))

    def change(self) -> AddColumns | DropColumn | DropPartition:
        if self.take("ADD"):
            if self.token.is_word("PARTITION", "PARTITIONS", "TEMPORARY", "ROLLUP", "INDEX", "CONSTRAINT"):
                raise errors.unsupported(f"ALTER TABLE .. ADD {self.token.value.upper()}")
            self.take("COLUMN")
            if self.take_symbol("("):
                columns = [self.column()]
                while self.take_symbol(","):
                    columns.append(self.column())
                self.expect_symbol(")")
                return AddColumns(tuple(columns))
            column = self.column()
            after = "" if self.take("FIRST") else self.identifier() if self.take("AFTER") else None
            return AddColumns((column,), after)
        if self.take("DROP"):
            if self.take("PARTITION"):
                if_exists = self.take("IF", "EXISTS")
                partition = self.identifier()
                self.take("FORCE")
                return DropPartition(partition, if_exists)
            self.expect("COLUMN")
            return DropColumn(self.identifier())
        if self.token.kind is Kind.WORD:
            raise errors.unsupported(f"ALTER TABLE .. {self.token.value.upper()}")
        raise self.unexpected("{'ADD', 'DROP'}")

    def view(self, mode: str) -> CreateView:
        name = self.qualified()
        columns: list[tuple[str, str]] = []
        if self.take_symbol("("):
            while True:
                column = self.identifier()
                columns.append((column, self.comment()))
                if not self.take_symbol(","):
                    break
            self.expect_symbol(")")
        comment = self.comment()
        self.expect("AS")
        if not self.token.is_word("SELECT", "WITH") and not self.token.is_symbol("("):
            raise self.unexpected("{'SELECT', 'WITH'}")
        query = self.text[self.token.start :].rstrip().removesuffix(";").rstrip()
        self.at = len(self.tokens) - 1
        return CreateView(name, mode, tuple(columns), comment, query)
