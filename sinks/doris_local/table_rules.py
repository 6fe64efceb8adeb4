"""Whether a well-formed CREATE TABLE may exist, by Doris' rules and in Doris' words, for a cluster of one backend.

`settle` fills in what the statement left out (model, keys, key columns, property defaults) and refuses what Doris
would. Doris makes three replicas unless told otherwise, so on one backend a table without `replication_num` is refused
here as it is there.
"""

from __future__ import annotations

import re

import msgspec

from sinks.doris_local import errors, schema

SEQUENCE_COL = "function_column.sequence_col"
SEQUENCE_TYPE = "function_column.sequence_type"
MERGE_ON_WRITE = "enable_unique_key_merge_on_write"
KNOWN_PROPERTIES = frozenset(
    {
        "replication_num",
        "replication_allocation",
        SEQUENCE_COL,
        SEQUENCE_TYPE,
        MERGE_ON_WRITE,
        "compression",
        "compaction_policy",
        "bloom_filter_columns",
        "inverted_index_storage_format",
        "light_schema_change",
        "store_row_column",
        "group_commit_interval_ms",
        "storage_medium",
        "storage_format",
        "min_load_replica_num",
        "disable_auto_compaction",
    }
)
TABLE_NAME = re.compile(r"[a-zA-Z0-9_$-]{1,64}")
DATABASE_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}")
COLUMN_NAME = re.compile(r"[^\s`\"'\\]{1,256}")
NEVER_KEYS = {
    "float": "Float or double can not used as a key, use decimal instead.",
    "double": "Float or double can not used as a key, use decimal instead.",
    "text": "String Type should not be used in key column[{}]",
    "json": "JsonType type should not be used in key column[{}].",
}
SHORT_KEY_COLUMNS = 3
SHORT_KEY_BYTES = 36
INDEX_BYTES = {
    "boolean": 1, "tinyint": 1, "smallint": 2, "int": 4, "bigint": 8, "largeint": 16, "float": 4, "double": 8,
    "date": 4, "datetime": 8, "decimal": 16, "varchar": 20, "text": 20, "json": 20,
}  # fmt: skip


def check_database_name(name: str) -> None:
    if not DATABASE_NAME.fullmatch(name):
        raise errors.SqlError(f"Incorrect database name '{name}'", 1102, "42000")


def settle(table: schema.Table) -> schema.Table:
    """The table as Doris would keep it. Raises SqlError if Doris would refuse it."""
    if not TABLE_NAME.fullmatch(table.name):
        raise errors.SqlError(f"Incorrect table name '{table.name}'. Table name regex is '{TABLE_NAME.pattern}'", 1103)
    _check_columns(table.columns)
    model, keys = _model_and_keys(table)
    table = msgspec.structs.replace(
        table, model=model, keys=keys, columns=tuple(_settle_column(c, model, keys) for c in table.columns)
    )
    _check_sequence(table)
    _check_partition(table)
    _check_distribution(table)
    _check_indexes(table)
    return msgspec.structs.replace(table, properties=_settle_properties(table))


def _check_columns(columns: tuple[schema.Column, ...]) -> None:
    seen: set[str] = set()
    for column in columns:
        if column.name.lower() in seen:
            raise errors.SqlError(f"Duplicate column name '{column.name}'", 1060, "42S21")
        check_column_name(column.name)
        seen.add(column.name.lower())


def check_column_name(name: str) -> None:
    if name.upper().startswith("__DORIS_"):
        raise errors.refused(f"Incorrect column name '{name}': column name can't start with '__DORIS_'")
    if name.lower() == "rowid":
        raise errors.unsupported("a column called rowid")
    if not COLUMN_NAME.fullmatch(name):
        raise errors.SqlError(f"Incorrect column name '{name}'", 1166, "42000")


def _model_and_keys(table: schema.Table) -> tuple[str, tuple[str, ...]]:
    if not table.model:
        aggregated = any(c.aggregate for c in table.columns)
        return ("AGGREGATE", _leading_keys(table)) if aggregated else ("DUPLICATE", _short_keys(table))
    named = []
    for place, key in enumerate(table.keys):
        column = table.column(key)
        if column is None:
            raise errors.refused(f"Key column[{key}] doesn't exist.")
        if table.columns[place] is not column:
            raise errors.refused(
                "Key columns should be a ordered prefix of the schema. "
                f"KeyColumns[{place}] (starts from zero) is {key}, "
                f"but corresponding column is {table.columns[place].name} in the previous columns declaration."
            )
        named.append(column.name)
    if any(c.key and c.name not in named for c in table.columns):
        raise errors.refused("Keys are named twice: KEY after a column and in the table's key list")
    return table.model, tuple(named)


def _leading_keys(table: schema.Table) -> tuple[str, ...]:
    keys = []
    for column in table.columns:
        if column.aggregate:
            break
        keys.append(column.name)
    return tuple(keys) or _no_key()


def _short_keys(table: schema.Table) -> tuple[str, ...]:
    keys: list[str] = []
    size = 0
    for column in table.columns:
        name = column.type.name
        size += column.type.args[0] if name == "char" else INDEX_BYTES[name]
        if len(keys) >= SHORT_KEY_COLUMNS or size > SHORT_KEY_BYTES:
            if not keys and name in schema.STRINGS:
                keys.append(column.name)
            break
        if name in NEVER_KEYS:
            break
        keys.append(column.name)
        if name == "varchar":
            break
    return tuple(keys) or _no_key()


def _no_key() -> tuple[str, ...]:
    raise errors.refused(
        "The olap table first column could not be float, double, string or array, struct, map, "
        "please use decimal or varchar instead."
    )


def _settle_column(column: schema.Column, model: str, keys: tuple[str, ...]) -> schema.Column:
    key = column.name in keys
    if key and column.type.name in NEVER_KEYS:
        raise errors.refused(NEVER_KEYS[column.type.name].format(column.name))
    if column.aggregate and key:
        raise errors.refused(f"Key column {column.name} can not set aggregation type")
    if column.aggregate and model != "AGGREGATE":
        raise errors.refused(
            f"column[{column.name}]: {model} KEY table should not specify aggregate type for non-key column"
        )
    if model == "AGGREGATE" and not key:
        _check_aggregate(column)
    check_default(column)
    return msgspec.structs.replace(column, key=key)


def _check_aggregate(column: schema.Column) -> None:
    if not column.aggregate:
        raise errors.refused("should set aggregation type to non-key column in aggregate key table")
    if column.aggregate == "REPLACE_IF_NOT_NULL" and not column.nullable:
        raise errors.refused(
            f"REPLACE_IF_NOT_NULL column must be nullable, maybe should use REPLACE, column:{column.name}"
        )
    name = column.type.name
    if (column.aggregate == "SUM" and name not in schema.NUMBERS) or (
        column.aggregate in ("MIN", "MAX") and name in ("boolean", "json")
    ):
        raise errors.refused(f"Aggregate type {column.aggregate} is not compatible with primitive type {column.type}")


def check_default(column: schema.Column) -> None:
    """Whether the default's text can be a value of the column's type, as far as its form tells."""
    if column.default is None:
        return
    kind, default = column.type.name, column.default
    if default.startswith("CURRENT_"):
        fits = kind == ("date" if default == "CURRENT_DATE" else "datetime")
    elif kind in schema.INTEGERS:
        fits = re.fullmatch(r"-?\d+", default) is not None
    elif kind in schema.NUMBERS:
        fits = re.fullmatch(r"-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", default) is not None
    elif kind == "boolean":
        fits = default.lower() in ("0", "1", "true", "false")
    else:
        limit = column.type.max_bytes
        fits = limit is None or len(default.encode()) <= limit
    if not fits:
        raise errors.refused(f"Invalid default value for '{column.name}'")


def _check_sequence(table: schema.Table) -> None:
    named, typed = table.option(SEQUENCE_COL), table.option(SEQUENCE_TYPE)
    if named is None and typed is None:
        return
    if table.model != "UNIQUE":
        raise errors.refused("sequence column only support UNIQUE_KEYS")
    if named is not None and typed is not None:
        raise errors.refused("The sequence_col and sequence_type cannot be set at the same time")
    if named is not None and table.column(named) is None:
        raise errors.refused(f"The specified sequence column[{named}] not exists")
    type_ = table.sequence_type
    if type_ is None or type_.name not in (*schema.INTEGERS, "date", "datetime"):
        raise errors.refused("Sequence type only support integer types and date types")
    if named is not None and named.lower() in (k.lower() for k in table.keys):
        raise errors.unsupported("a key column as sequence column")


def _check_partition(table: schema.Table) -> None:
    if table.partition is None:
        return
    column = table.column(table.partition.column)
    if column is None:
        raise errors.refused(f"partition key {table.partition.column} is not exists")
    if column.type.name not in ("date", "datetime"):
        raise errors.refused("partition expr date_trunc is illegal!")
    if column.nullable:
        raise errors.refused("AUTO RANGE PARTITION doesn't support NULL column")
    if column.name not in table.keys and table.model != "DUPLICATE":
        raise errors.refused("The partition column could only be key column")
    if column.type.name == "date" and table.partition.unit == "hour":
        raise errors.refused("partition expr date_trunc is illegal!")


def _check_distribution(table: schema.Table) -> None:
    if table.buckets is not None and table.buckets <= 0:
        raise errors.refused("Buckets number of distribution should be greater than zero.")
    if not table.hash_columns:
        if table.model == "UNIQUE":
            raise errors.refused("Should not be distributed by random when keys type is unique")
        replaced = next((c.name for c in table.columns if (c.aggregate or "").startswith("REPLACE")), None)
        if replaced:
            raise errors.refused(
                f"Should not be distributed by random when keys type is agg and column is in replace, [{replaced}] is invalid"
            )
    for name in table.hash_columns:
        column = table.column(name)
        if column is None:
            raise errors.refused(f"Distribution column({name}) doesn't exist.")
        if not column.key and table.model != "DUPLICATE":
            raise errors.refused(f"Distribution column[{name}] is not key column")
        if column.type.name in NEVER_KEYS:
            raise errors.refused(f"{column.type} should not be used in distribution column[{name}].")


def _check_indexes(table: schema.Table) -> None:
    names = [index.name.lower() for index in table.indexes]
    if len(set(names)) != len(names):
        raise errors.refused("index name must be unique.")
    for index in table.indexes:
        for name in index.columns:
            if table.column(name) is None:
                raise errors.refused(f"Column does not exist in table. invalid column: {name}")


def _settle_properties(table: schema.Table) -> tuple[tuple[str, str], ...]:
    properties = dict(table.properties)
    unknown = {k: v for k, v in properties.items() if k not in KNOWN_PROPERTIES}
    if unknown:
        raise errors.refused(f"Unknown properties: {{{', '.join(f'{k}={v}' for k, v in unknown.items())}}}")
    _settle_replicas(properties)
    if table.model == "UNIQUE":
        properties.setdefault(MERGE_ON_WRITE, "true")
        if properties.get("compaction_policy") == "time_series":
            raise errors.refused("Time series compaction policy is not supported for unique key table")
    elif MERGE_ON_WRITE in properties:
        raise errors.refused(f"{MERGE_ON_WRITE} property only support unique key table")
    if SEQUENCE_COL in properties:
        column = table.column(properties[SEQUENCE_COL])
        properties[SEQUENCE_COL] = column.name if column else properties[SEQUENCE_COL]
    return tuple(properties.items())


def _settle_replicas(properties: dict[str, str]) -> None:
    """Doris keeps a number of replicas as an allocation to its default resource group."""
    allocation = properties.get("replication_allocation", "")
    wanted = properties.pop("replication_num", "") or allocation.rpartition(":")[2].strip() or "3"
    if not wanted.isdigit() or wanted == "0":
        raise errors.refused(f"replication_num should be a positive number, got '{wanted}'")
    if int(wanted) > 1:
        raise errors.refused(
            "replication num should be less than the number of available backends. "
            f"replication num is {wanted}, available backend num is 1"
        )
    properties["replication_allocation"] = "tag.location.default: 1"


def with_columns(table: schema.Table, added: tuple[schema.Column, ...], after: str | None) -> schema.Table:
    """The table after ALTER TABLE .. ADD COLUMN. Raises SqlError if Doris would refuse it."""
    columns = list(table.columns)
    place = len(columns)
    if after == "":
        place = 0
    elif after is not None:
        place = 1 + next((i for i, c in enumerate(columns) if c.name.lower() == after.lower()), -1)
        if place == 0:
            raise errors.refused(f"Column[{after}] does not exists")
    if place < len(table.keys):
        raise errors.refused("Can not add value column before key column")
    for column in added:
        if table.column(column.name) is not None:
            raise errors.refused(f"Can not add column which already exists in base table: {column.name}")
        check_column_name(column.name)
        if column.key or (table.model == "AGGREGATE" and not column.aggregate):
            raise errors.unsupported("ADD COLUMN of a key column")
        if not column.nullable and column.default is None:
            raise errors.refused(f"Column[{column.name}] is NOT NULL and needs a DEFAULT for the rows that are there")
        columns.insert(place, _settle_column(column, table.model, table.keys))
        place += 1
    _check_columns(tuple(columns))
    return msgspec.structs.replace(table, columns=tuple(columns))


def without_column(table: schema.Table, dropped: str) -> tuple[schema.Table, str]:
    """The table after ALTER TABLE .. DROP COLUMN, and the column's own spelling. Raises SqlError."""
    column = table.column(dropped)
    if column is None:
        raise errors.refused(f"Column does not exists: {dropped}")
    if column.key:
        raise errors.refused(f"Can not drop key column in {table.model} data model table")
    if table.sequence_column == column.name:
        raise errors.refused(
            f"Can not drop sequence mapping column[{column.name}] in Unique data model table[{table.name}]"
        )
    if column.name in table.hash_columns:
        raise errors.refused(f"Distribution column[{column.name}] cannot be dropped")
    if table.partition and table.partition.column == column.name:
        raise errors.refused(f"Partition column[{column.name}] cannot be dropped")
    if any(column.name.lower() in (n.lower() for n in i.columns) for i in table.indexes):
        raise errors.unsupported("DROP COLUMN of an indexed column")
    rest = tuple(c for c in table.columns if c is not column)
    return msgspec.structs.replace(table, columns=rest), column.name
