"""Statements that define things, read by recursive descent into small records; nothing is executed or looked up here.

The grammar is Doris' own, clause order included: what Doris' parser refuses is refused, with the token that was not
expected. What the grammar allows and the local store does not do is refused as unsupported. Whether a well-formed table
may exist is decided in `table_rules`.
"""

from __future__ import annotations

from typing import NoReturn

import msgspec

from sinks.doris_local import errors, schema
from sinks.doris_local.reserved import RESERVED
from sinks.doris_local.tokens import Kind, Token, syntax_error, tokenize

AGGREGATES = ("SUM", "MIN", "MAX", "REPLACE", "REPLACE_IF_NOT_NULL")
UNSUPPORTED_AGGREGATES = ("HLL_UNION", "BITMAP_UNION", "QUANTILE_UNION", "GENERIC")
UNSUPPORTED_TYPES = (
    "VARIANT",
    "ARRAY",
    "MAP",
    "STRUCT",
    "HLL",
    "BITMAP",
    "QUANTILE_STATE",
    "AGG_STATE",
    "IPV4",
    "IPV6",
)
PARTITION_UNITS = ("year", "quarter", "month", "week", "day", "hour")


class Name(msgspec.Struct, frozen=True):
    """A possibly qualified name; `database` None means the session's."""

    database: str | None
    name: str


class CreateDatabase(msgspec.Struct, frozen=True):
    name: str
    if_not_exists: bool


class DropDatabase(msgspec.Struct, frozen=True):
    name: str
    if_exists: bool


class CreateTable(msgspec.Struct, frozen=True):
    """`table.database` is empty when the statement names none; keys and model are as written (`table_rules` fills in)."""

    name: Name
    if_not_exists: bool
    table: schema.Table


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
    parser = _Parser(text)
    statement = parser.statement()
    parser.take_symbol(";")
    if parser.token.kind is not Kind.END:
        parser.fail("<EOF>")
    return statement


def parse_type(text: str) -> schema.Type:
    """A type as it stands in CREATE TABLE. Raises SqlError."""
    return _Parser(text).type()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.at = 0

    # -- the cursor

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def fail(self, expected: str) -> NoReturn:
        token = self.token
        shown = self.text[token.start : token.end] or "<EOF>"
        raise syntax_error(self.text, token.start, f"mismatched input '{shown}' expecting {expected}")

    def take(self, *words: str) -> bool:
        """Step over these words if they come next, all or none."""
        ahead = self.tokens[self.at : self.at + len(words)]
        if len(ahead) < len(words) or not all(t.is_word(w) for t, w in zip(ahead, words, strict=True)):
            return False
        self.at += len(words)
        return True

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.take(word):
                self.fail(word)

    def take_symbol(self, symbol: str) -> bool:
        found = self.token.is_symbol(symbol)
        self.at += found
        return found

    def expect_symbol(self, symbol: str) -> None:
        if not self.take_symbol(symbol):
            self.fail(f"'{symbol}'")

    def value(self, *kinds: Kind, expected: str) -> str:
        if self.token.kind not in kinds:
            self.fail(expected)
        value = self.token.value
        self.at += 1
        return value

    def identifier(self) -> str:
        if self.token.kind is Kind.WORD and self.token.value.upper() in RESERVED:
            self.fail("identifier")
        return self.value(Kind.WORD, Kind.NAME, expected="identifier")

    def string(self) -> str:
        return self.value(Kind.STRING, expected="STRING_LITERAL")

    def integer(self) -> int:
        value = self.value(Kind.NUMBER, expected="INTEGER_VALUE")
        if not value.isdigit():
            self.at -= 1
            self.fail("INTEGER_VALUE")
        return int(value)

    def names(self) -> tuple[str, ...]:
        self.expect_symbol("(")
        names = [self.identifier()]
        while self.take_symbol(","):
            names.append(self.identifier())
        self.expect_symbol(")")
        return tuple(names)

    def qualified(self) -> Name:
        parts = [self.identifier()]
        while self.take_symbol("."):
            parts.append(self.identifier())
        if len(parts) == 3 and parts[0] == "internal":
            del parts[0]
        if len(parts) > 2:
            raise errors.unsupported(f"catalog '{parts[0]}'")
        return Name(parts[0] if len(parts) == 2 else None, parts[-1])

    # -- statements

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
        self.fail("{'ALTER', 'CREATE', 'DROP', 'TRUNCATE'}")

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
            name = self.qualified().name
            self.take("FORCE")
            return DropDatabase(name, if_exists)
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
        self.fail("{'ADD', 'DROP'}")

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
            self.fail("{'SELECT', 'WITH'}")
        query = self.text[self.token.start :].rstrip().removesuffix(";").rstrip()
        self.at = len(self.tokens) - 1
        return CreateView(name, mode, tuple(columns), comment, query)

    def comment(self) -> str:
        return self.string() if self.take("COMMENT") else ""

    # -- CREATE TABLE

    def table(self) -> CreateTable:
        if_not_exists = self.take("IF", "NOT", "EXISTS")
        name = self.qualified()
        if self.token.is_word("LIKE", "AS"):
            raise errors.unsupported(f"CREATE TABLE .. {self.token.value.upper()}")
        columns, indexes = self.body()
        if self.take("ENGINE"):
            self.expect_symbol("=")
            if (engine := self.identifier()).upper() != "OLAP":
                raise errors.unsupported(f"ENGINE={engine}")
        model, keys = self.keys()
        comment = self.comment()
        partition = self.partition()
        hash_columns, buckets = self.distribution()
        if self.token.is_word("ROLLUP"):
            raise errors.unsupported("ROLLUP")
        properties = self.properties() if self.take("PROPERTIES") else ()
        table = schema.Table(
            database=name.database or "",
            name=name.name,
            columns=columns,
            model=model,
            keys=keys,
            comment=comment,
            partition=partition,
            hash_columns=hash_columns,
            buckets=buckets,
            indexes=indexes,
            properties=properties,
        )
        return CreateTable(name, if_not_exists, table)

    def body(self) -> tuple[tuple[schema.Column, ...], tuple[schema.Index, ...]]:
        columns: list[schema.Column] = []
        indexes: list[schema.Index] = []
        self.expect_symbol("(")
        while True:
            if self.token.is_word("INDEX"):
                indexes.append(self.index())
            elif indexes:
                self.fail("INDEX")
            else:
                columns.append(self.column())
            if not self.take_symbol(","):
                break
        self.expect_symbol(")")
        return tuple(columns), tuple(indexes)

    def index(self) -> schema.Index:
        self.expect("INDEX")
        self.take("IF", "NOT", "EXISTS")
        name, columns = self.identifier(), self.names()
        using = ""
        if self.take("USING"):
            using = self.identifier().upper()
            if using not in ("BITMAP", "INVERTED", "NGRAM_BF"):
                raise errors.unsupported(f"INDEX .. USING {using}")
        properties = self.properties() if self.take("PROPERTIES") else ()
        return schema.Index(name=name, columns=columns, using=using, properties=properties, comment=self.comment())

    def column(self) -> schema.Column:
        name = self.identifier()
        type_ = self.type()
        key = self.take("KEY")
        aggregate = self.aggregate()
        if self.token.is_word("AS", "GENERATED"):
            raise errors.unsupported("a generated column")
        nullable = True
        if self.take("NOT"):
            self.expect("NULL")
            nullable = False
        else:
            self.take("NULL")
        if self.token.is_word("AUTO_INCREMENT"):
            raise errors.unsupported("AUTO_INCREMENT")
        default = self.default() if self.take("DEFAULT") else None
        if self.token.is_word("ON"):
            raise errors.unsupported("ON UPDATE")
        return schema.Column(
            name=name,
            type=type_,
            key=key,
            aggregate=aggregate,
            nullable=nullable,
            default=default,
            comment=self.comment(),
        )

    def aggregate(self) -> str | None:
        if self.token.is_word(*UNSUPPORTED_AGGREGATES):
            raise errors.unsupported(f"aggregate type {self.token.value.upper()}")
        if self.token.is_word(*AGGREGATES):
            word = self.token.value.upper()
            self.at += 1
            return word
        return None

    def default(self) -> str | None:
        if self.take("NULL"):
            return None
        if self.take("CURRENT_TIMESTAMP"):
            if self.take_symbol("("):
                scale = self.integer()
                self.expect_symbol(")")
                return f"CURRENT_TIMESTAMP({scale})"
            return "CURRENT_TIMESTAMP"
        if self.take("CURRENT_DATE"):
            return "CURRENT_DATE"
        if self.take("TRUE"):
            return "1"
        if self.take("FALSE"):
            return "0"
        sign = "-" if self.take_symbol("-") else ""
        return sign + self.value(Kind.STRING, Kind.NUMBER, expected="{STRING_LITERAL, INTEGER_VALUE, 'NULL'}")

    def type(self) -> schema.Type:
        token = self.token
        word = self.value(Kind.WORD, expected="a type").upper()
        args: list[int] = []
        if self.take_symbol("("):
            args.append(-1 if self.take_symbol("*") else self.integer())
            while self.take_symbol(","):
                args.append(self.integer())
            self.expect_symbol(")")
        type_ = _type(word, args)
        if type_ is None:
            if word in UNSUPPORTED_TYPES:
                raise errors.unsupported(f"type {word}")
            raise syntax_error(self.text, token.start, f"Unknown type or wrong length: '{token.value}'")
        return type_

    def keys(self) -> tuple[str, tuple[str, ...]]:
        for model in ("UNIQUE", "DUPLICATE", "AGGREGATE"):
            if self.take(model, "KEY"):
                keys = self.names()
                if self.take("CLUSTER", "BY") or self.take("ORDER", "BY"):
                    raise errors.unsupported("CLUSTER BY")
                return model, keys
        return "", ()

    def partition(self) -> schema.Partition | None:
        auto = self.take("AUTO")
        if not self.take("PARTITION", "BY"):
            if auto:
                self.fail("PARTITION")
            return None
        if not auto:
            raise errors.unsupported("PARTITION BY without AUTO")
        if self.take("LIST"):
            raise errors.unsupported("AUTO PARTITION BY LIST")
        self.expect("RANGE")
        self.expect_symbol("(")
        self.expect("DATE_TRUNC")
        self.expect_symbol("(")
        column = self.identifier()
        self.expect_symbol(",")
        unit = self.string().lower()
        if unit not in PARTITION_UNITS:
            raise errors.refused(
                f"date_trunc function time unit param only support argument is {'|'.join(PARTITION_UNITS)}"
            )
        for symbol in (")", ")", "("):
            self.expect_symbol(symbol)
        if self.token.is_word("PARTITION"):
            raise errors.unsupported("a partition given beforehand in an AUTO PARTITION table")
        self.expect_symbol(")")
        return schema.Partition(column, unit)

    def distribution(self) -> tuple[tuple[str, ...], int | None]:
        if not self.take("DISTRIBUTED", "BY"):
            return (), None
        columns = self.names() if self.take("HASH") else ()
        if not columns:
            self.expect("RANDOM")
        if not self.take("BUCKETS"):
            return columns, 10  # Doris' default when nothing is said
        return columns, None if self.take("AUTO") else self.integer()

    def properties(self) -> tuple[tuple[str, str], ...]:
        self.expect_symbol("(")
        pairs = []
        while True:
            key = self.value(Kind.STRING, Kind.WORD, expected="STRING_LITERAL")
            self.expect_symbol("=")
            pairs.append((key, self.value(Kind.STRING, Kind.WORD, Kind.NUMBER, expected="STRING_LITERAL")))
            if not self.take_symbol(","):
                break
        self.expect_symbol(")")
        return tuple(pairs)


_PLAIN_TYPES = {
    "BOOLEAN": "boolean",
    "BOOL": "boolean",
    "TINYINT": "tinyint",
    "SMALLINT": "smallint",
    "INT": "int",
    "INTEGER": "int",
    "BIGINT": "bigint",
    "LARGEINT": "largeint",
    "FLOAT": "float",
    "DOUBLE": "double",
    "DATE": "date",
    "DATEV2": "date",
    "STRING": "text",
    "TEXT": "text",
    "JSON": "json",
    "JSONB": "json",
}
_DISPLAY_WIDTH_TYPES = ("TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "LARGEINT", "BOOLEAN")


def _type(word: str, args: list[int]) -> schema.Type | None:
    """The type, None if there is none of that name and those numbers."""
    if word in _PLAIN_TYPES:
        fits = not args or (len(args) == 1 and word in _DISPLAY_WIDTH_TYPES)
        return schema.Type(_PLAIN_TYPES[word]) if fits else None
    if word in ("DATETIME", "DATETIMEV2") and len(args) <= 1:
        scale = args[0] if args else 0
        if scale in (1, 2, 4, 5):
            raise errors.unsupported(f"DATETIME({scale}): only the scales 0, 3 and 6 are; it")
        return schema.Type("datetime", (scale,)) if scale in schema.DATETIME_SCALES else None
    if word in ("DECIMAL", "DECIMALV3", "NUMERIC") and len(args) <= 2:
        precision, scale = (*args, *(38, 9)[len(args) :]) if len(args) != 1 else (args[0], 0)
        return schema.Type("decimal", (precision, scale)) if 1 <= precision <= 38 and scale <= precision else None
    if word in ("VARCHAR", "CHAR") and len(args) <= 1:
        longest = 65533 if word == "VARCHAR" else 255
        length = args[0] if args else (1 if word == "CHAR" else longest)
        length = longest if length == -1 and word == "VARCHAR" else length
        return schema.Type(word.lower(), (length,)) if 1 <= length <= longest else None
    return None
