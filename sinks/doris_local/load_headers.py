"""What the headers of a Stream Load ask for, turned into an order; what the local store does not do is refused.

Headers that only tune a real cluster (timeout, memory, parallelism) are accepted and mean nothing here. Sources: the
names and defaults of Doris' BE (`http_common.h`), the rules of its FE's load planner.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping

from sinks.doris_local import rows, schema
from sinks.doris_local.errors import SqlError
from sinks.doris_local.load import LoadFailed, Order

LABEL = re.compile(r"[-_A-Za-z0-9:]{1,128}")
NAME = re.compile(r"\s*`?([^`\s,=()]+)`?\s*")
UNSUPPORTED = (
    "jsonpaths",
    "json_root",
    "where",
    "partitions",
    "temporary_partitions",
    "unique_key_update_mode",
    "skip_lines",
    "sql",
)
SEQUENCE_HEADER = "function_column.sequence_col"
UTC_NAMES = ("utc", "+00:00", "etc/utc", "gmt", "z")

Condition = Callable[[str], str]


def label(headers: Mapping[str, str]) -> str:
    """The label, a new one if none is given. Raises LoadFailed for one that breaks Doris' rule."""
    given = headers.get("label", "")
    if not given:
        return str(uuid.uuid4())
    if not LABEL.fullmatch(given):
        raise LoadFailed(
            "[ANALYSIS_ERROR]TStatus: errCode = 2, detailMessage = Label format error. regex: "
            f"^[-_A-Za-z0-9:]{{1,128}}$, label: {given}"
        )
    return given


def order(table: schema.Table, given_label: str, headers: Mapping[str, str], condition: Condition) -> Order:
    """The load that the headers ask for; `condition` translates the `delete` header's expression into DuckDB's SQL.

    Raises LoadFailed with the answer's message.
    """
    _refuse_unsupported(headers)
    try:
        shape = _shape(table, headers, condition)
    except SqlError as error:
        raise analysis(error.message) from error
    return Order(
        table=table,
        label=given_label,
        shape=shape,
        layout=_layout(headers),
        gzipped=_gzipped(headers),
        max_filter_ratio=_ratio(headers),
    )


def analysis(detail: str) -> LoadFailed:
    text = detail if detail.startswith("errCode") else f"errCode = 2, detailMessage = {detail}"
    return LoadFailed(f"[ANALYSIS_ERROR]TStatus: {text}")


def unsupported(what: str) -> LoadFailed:
    return analysis(f"{what} is not supported by the local store (a Doris-compatible subset)")


def flag(headers: Mapping[str, str], header: str) -> bool:
    """A header that says true or false; false without it. Raises LoadFailed for anything else."""
    value = headers.get(header, "false").lower()
    if value not in ("true", "false"):
        raise LoadFailed(f"[INVALID_ARGUMENT]Invalid {header} format. Must be bool type")
    return value == "true"


def _refuse_unsupported(headers: Mapping[str, str]) -> None:
    for header in UNSUPPORTED:
        if headers.get(header):
            raise unsupported(f"header {header}")
    for header in ("partial_columns", "two_phase_commit", "num_as_string", "fuzzy_parse"):
        if flag(headers, header):
            raise unsupported(f"header {header}")
    group_commit = headers.get("group_commit", "off_mode")
    if group_commit != "off_mode":
        if headers.get("label"):
            raise LoadFailed("[INVALID_ARGUMENT]label and group_commit can't be set at the same time")
        raise unsupported(f"group_commit {group_commit}")
    zone = headers.get("timezone", "UTC")
    if zone.lower() not in UTC_NAMES:
        raise unsupported(f"timezone {zone}: only UTC is; it")


def _layout(headers: Mapping[str, str]) -> str:
    if (format_ := headers.get("format", "csv").lower()) != "json":
        raise unsupported(f"format {format_}")
    by_line, array = flag(headers, "read_json_by_line"), flag(headers, "strip_outer_array")
    if by_line and array:
        raise unsupported("read_json_by_line together with strip_outer_array")
    return "lines" if by_line else "array" if array else "object"


def _gzipped(headers: Mapping[str, str]) -> bool:
    kind = headers.get("compress_type", "").lower()
    if kind not in ("", "gz"):
        raise unsupported(f"compress_type {kind}")
    return kind == "gz"


def _ratio(headers: Mapping[str, str]) -> float:
    value = headers.get("max_filter_ratio", "0")
    if not re.fullmatch(r"0(\.\d*)?|1(\.0*)?|\.\d+", value):
        raise LoadFailed(f"[INVALID_ARGUMENT]Invalid max_filter_ratio format: {value}. It must be between 0 and 1")
    return float(value)


def _shape(table: schema.Table, headers: Mapping[str, str], condition: Condition) -> rows.Shape:
    named = _names(headers, "columns")
    hidden = _names(headers, "hidden_columns")
    if named and hidden:
        raise analysis("hidden_columns can't be used together with columns")
    columns: tuple[str, ...] | None = None
    sources: tuple[str, ...] = ()
    if named:
        hidden = tuple(n for n in named if n in schema.HIDDEN)
        rest = tuple(n for n in named if n not in hidden)
        columns = rows.check_columns(table, tuple(n for n in rest if table.column(n)))
        sources = tuple(n for n in rest if not table.column(n))
    _check_hidden(table, hidden)
    merge_type, delete_if = _merge_type(table, headers)
    if merge_type == "MERGE":
        delete_if = condition(delete_if)
    return rows.Shape(
        columns=columns,
        sources=sources,
        hidden=hidden,
        sequence_source=_sequence_source(table, headers, columns, hidden),
        delete_all=merge_type == "DELETE",
        delete_if=delete_if or None,
        strict=flag(headers, "strict_mode"),
    )


def _names(headers: Mapping[str, str], header: str) -> tuple[str, ...]:
    names = []
    for part in filter(str.strip, headers.get(header, "").split(",")):
        match = NAME.fullmatch(part)
        if match is None:
            raise unsupported(f"an expression in header {header}")
        names.append(match[1])
    return tuple(names)


def _check_hidden(table: schema.Table, hidden: tuple[str, ...]) -> None:
    for column in hidden:
        if column == schema.DELETE_SIGN and table.model == "UNIQUE":
            continue
        if column == schema.SEQUENCE and table.sequence_type is not None and table.sequence_column is None:
            continue
        raise analysis(f"Unknown column '{column}' in '{table.name}'")


def _merge_type(table: schema.Table, headers: Mapping[str, str]) -> tuple[str, str]:
    kind = headers.get("merge_type", "APPEND").upper()
    delete = headers.get("delete", "")
    if kind not in ("APPEND", "DELETE", "MERGE"):
        raise LoadFailed(f"[INVALID_ARGUMENT]Invalid merge type {kind}")
    if kind == "MERGE" and not delete:
        raise LoadFailed("[INVALID_ARGUMENT]Excepted DELETE ON clause when merge type is MERGE.")
    if kind != "MERGE" and delete:
        raise LoadFailed("[INVALID_ARGUMENT]not support DELETE ON clause when merge type is not MERGE.")
    if kind != "APPEND" and table.model != "UNIQUE":
        raise analysis("load by MERGE or DELETE is only supported in unique tables.")
    return kind, delete


def _sequence_source(
    table: schema.Table, headers: Mapping[str, str], columns: tuple[str, ...] | None, hidden: tuple[str, ...]
) -> str | None:
    given = headers.get(SEQUENCE_HEADER)
    if table.sequence_type is None:
        if given:
            raise analysis(f"There is no sequence column in the table {table.name}")
        return None
    if table.sequence_column is not None:
        if given and given.lower() != table.sequence_column.lower():
            raise unsupported(f"{SEQUENCE_HEADER} {given}: another column than the table's; it")
        if columns is not None and table.sequence_column not in columns:
            raise analysis(f"Table {table.name} has sequence column, need to specify the sequence column")
        return None
    if not given and schema.SEQUENCE not in hidden:
        raise analysis(f"Table {table.name} has sequence column, need to specify the sequence column")
    return given
