"""What a table or view is: columns with Doris types, keys, partition, distribution, properties; and its normal form.

The normal form (`create_text`) is what SHOW CREATE TABLE prints and what the catalog keeps: parsing it gives the same
table again, so there is no second format to maintain.
"""

from __future__ import annotations

import msgspec

from sinks.doris_local.tokens import quote_name, quote_string

DELETE_SIGN = "__DORIS_DELETE_SIGN__"
SEQUENCE = "__DORIS_SEQUENCE_COL__"
VERSION = "__DORIS_VERSION_COL__"
HIDDEN = (DELETE_SIGN, VERSION, SEQUENCE)

INTEGERS = ("tinyint", "smallint", "int", "bigint", "largeint")
NUMBERS = (*INTEGERS, "float", "double", "decimal")
STRINGS = ("char", "varchar", "text")
MAX_STRING_BYTES = 1_048_576  # BE string_type_length_soft_limit_bytes before 4.0

_DUCK = {
    "boolean": "BOOLEAN",
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "largeint": "HUGEINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "char": "VARCHAR",
    "varchar": "VARCHAR",
    "text": "VARCHAR",
    "json": "JSON",
}
# DuckDB keeps a time's number of decimals only as one of three types; so those three are what DATETIME(p) may have.
_DUCK_DATETIME = {0: "TIMESTAMP_S", 3: "TIMESTAMP_MS", 6: "TIMESTAMP"}
DATETIME_SCALES = tuple(_DUCK_DATETIME)


class Type(msgspec.Struct, frozen=True):
    """A Doris type: its lower-case name as Doris prints it, and its numbers, as in decimal(10,2) or datetime(3)."""

    name: str
    args: tuple[int, ...] = ()

    def __str__(self) -> str:
        if not self.args or self == Type("datetime", (0,)):
            return self.name
        return f"{self.name}({','.join(map(str, self.args))})"

    @property
    def duck(self) -> str:
        """The DuckDB type that holds it."""
        if self.name == "datetime":
            return _DUCK_DATETIME[self.args[0]]
        if self.name == "decimal":
            return f"DECIMAL({self.args[0]},{self.args[1]})"
        return _DUCK[self.name]

    @property
    def max_bytes(self) -> int | None:
        """The longest text it takes, in UTF-8 bytes; None for what is no text."""
        if self.name in ("char", "varchar"):
            return self.args[0]
        return MAX_STRING_BYTES if self.name in ("text", "json") else None


def type_of_duck(duck: str) -> Type:
    """The Doris type of a column that a query gives, from DuckDB's."""
    if duck.startswith("DECIMAL"):
        precision, scale = duck[8:-1].split(",")
        return Type("decimal", (int(precision), int(scale)))
    if duck == "HUGEINT":  # what DuckDB sums integers into; a sum is BIGINT on Doris
        return Type("bigint")
    if duck == "VARCHAR":
        return Type("varchar", (65533,))
    scales = {text: scale for scale, text in _DUCK_DATETIME.items()}
    if duck in scales:
        return Type("datetime", (scales[duck],))
    return next((Type(name) for name, text in _DUCK.items() if text == duck), Type("text"))


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """`default` is the text of the default, None for none (or NULL); CURRENT_TIMESTAMP is kept as that word."""

    name: str
    type: Type
    nullable: bool = True
    key: bool = False
    aggregate: str | None = None
    default: str | None = None
    comment: str = ""

    def text(self) -> str:
        """The column as SHOW CREATE TABLE prints it."""
        parts = [quote_name(self.name), str(self.type)]
        if self.aggregate:
            parts.append(self.aggregate)
        parts.append("NULL" if self.nullable else "NOT NULL")
        if self.default is not None:
            parts.append(f"DEFAULT {default_text(self.default)}")
        if self.comment:
            parts.append(f"COMMENT {quote_string(self.comment)}")
        return " ".join(parts)


def default_text(default: str) -> str:
    return default if default.startswith("CURRENT_") else quote_string(default)


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """An index changes no result, so it is kept and shown, nothing else."""

    name: str
    columns: tuple[str, ...]
    using: str = ""
    properties: tuple[tuple[str, str], ...] = ()
    comment: str = ""

    def text(self) -> str:
        text = f"INDEX {quote_name(self.name)} ({', '.join(map(quote_name, self.columns))})"
        if self.using:
            text += f" USING {self.using}"
        if self.properties:
            text += " PROPERTIES(" + ", ".join(f"{_pair(*p)}" for p in self.properties) + ")"
        return text + (f" COMMENT {quote_string(self.comment)}" if self.comment else "")


class Partition(msgspec.Struct, frozen=True):
    """AUTO PARTITION BY RANGE (date_trunc(`column`, 'unit')): a partition exists when a row of it was loaded."""

    column: str
    unit: str


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """`model` is UNIQUE, DUPLICATE or AGGREGATE. `buckets` None is AUTO; `hash_columns` empty is RANDOM."""

    database: str
    name: str
    columns: tuple[Column, ...]
    model: str
    keys: tuple[str, ...]
    comment: str = ""
    partition: Partition | None = None
    hash_columns: tuple[str, ...] = ()
    buckets: int | None = None
    indexes: tuple[Index, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()

    def column(self, name: str) -> Column | None:
        """The column of that name in any case, as Doris compares them; None if there is none."""
        return next((c for c in self.columns if c.name.lower() == name.lower()), None)

    def option(self, name: str) -> str | None:
        return dict(self.properties).get(name)

    @property
    def sequence_column(self) -> str | None:
        """The visible column that decides between equal keys (`function_column.sequence_col`)."""
        return self.option("function_column.sequence_col")

    @property
    def sequence_type(self) -> Type | None:
        """The type of the hidden sequence column, whichever of the two properties made it; None without one."""
        if self.sequence_column is not None:
            column = self.column(self.sequence_column)
            return column.type if column else None
        name = self.option("function_column.sequence_type")
        if name is None:
            return None
        return Type("datetime", (0,)) if name.lower() == "datetime" else Type(name.lower())

    def create_text(self) -> str:
        """The table in Doris' normal form, which the DDL parser reads back to an equal table."""
        parts = [column.text() for column in self.columns] + [index.text() for index in self.indexes]
        body = ",\n".join(f"  {part}" for part in parts)
        lines = [
            f"CREATE TABLE {quote_name(self.name)} (\n{body}\n) ENGINE=OLAP",
            f"{self.model} KEY({_names(self.keys)})",
        ]
        if self.comment:
            lines.append(f"COMMENT '{_single(self.comment)}'")
        if self.partition:
            column, unit = quote_name(self.partition.column), self.partition.unit
            lines.append(f"AUTO PARTITION BY RANGE (date_trunc({column}, '{unit}'))\n()")
        spread = f"HASH({_names(self.hash_columns)})" if self.hash_columns else "RANDOM"
        lines.append(f"DISTRIBUTED BY {spread} BUCKETS {self.buckets or 'AUTO'}")
        properties = ",\n".join(_pair(*p) for p in self.properties)
        lines.append(f"PROPERTIES (\n{properties}\n);")
        return "\n".join(lines)


class View(msgspec.Struct, frozen=True, kw_only=True):
    """`columns` are names and comments; empty: those of the query. `query` is Doris SQL as the user wrote it."""

    database: str
    name: str
    columns: tuple[tuple[str, str], ...] = ()
    comment: str = ""
    query: str

    def create_text(self) -> str:
        """The view in Doris' form; the DDL parser reads it back to an equal view."""
        text = f"CREATE VIEW {quote_name(self.name)}"
        if self.columns:
            columns = [quote_name(n) + (f" COMMENT '{_single(c)}'" if c else "") for n, c in self.columns]
            text += f" ({', '.join(columns)})"
        if self.comment:
            text += f" COMMENT '{_single(self.comment)}'"
        return f"{text} AS {self.query};"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(map(quote_name, names))


def _pair(key: str, value: str) -> str:
    return f"{quote_string(key)} = {quote_string(value)}"


def _single(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
