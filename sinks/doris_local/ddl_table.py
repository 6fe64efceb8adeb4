"""CREATE TABLE read by recursive descent, in Doris' clause order; a column and a type also by themselves.

What the grammar allows and the local store does not do is refused as unsupported. Whether a well-formed table may exist
is decided in `table_rules`.
"""

from __future__ import annotations

import msgspec

from sinks.doris_local import errors, schema
from sinks.doris_local.cursor import Cursor, Name
from sinks.doris_local.tokens import Kind, syntax_error

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


class CreateTable(msgspec.Struct, frozen=True):
    """`table.database` is empty when the statement names none; keys and model are as written (`table_rules` fills in)."""

    name: Name
    if_not_exists: bool
    table: schema.Table


def parse_type(text: str) -> schema.Type:
    """A type as it stands in CREATE TABLE. Raises SqlError."""
    return TableCursor(text).type()


class TableCursor(Cursor):
    """A cursor that reads what a table is made of."""

    def comment(self) -> str:
        return self.string() if self.take("COMMENT") else ""

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
                raise self.unexpected("INDEX")
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
                raise self.unexpected("PARTITION")
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
