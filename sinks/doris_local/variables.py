"""Session variables: what `@@name` and SHOW VARIABLES say, and what SET takes.

SET is lenient, as drivers set many things at the start: any variable may be set and reads back. Only a time zone that is
not UTC is refused, because results would be wrong in silence.
"""

from __future__ import annotations

import duckdb

from sinks.doris_local import errors
from sinks.doris_local.cursor import Cursor
from sinks.doris_local.tokens import Kind, Token

VERSION_COMMENT = "local store, Doris-compatible subset"
DEFAULTS = {
    "auto_increment_increment": "1",
    "autocommit": "1",
    "character_set_client": "utf8mb4",
    "character_set_connection": "utf8mb4",
    "character_set_database": "utf8mb4",
    "character_set_results": "utf8mb4",
    "character_set_server": "utf8mb4",
    "collation_connection": "utf8mb4_0900_bin",
    "collation_database": "utf8mb4_0900_bin",
    "collation_server": "utf8mb4_0900_bin",
    "default_storage_engine": "olap",
    "enable_insert_strict": "1",
    "init_connect": "",
    "interactive_timeout": "3600",
    "license": "Apache License, Version 2.0",
    "lower_case_table_names": "0",
    "max_allowed_packet": "16777216",
    "net_buffer_length": "16384",
    "net_read_timeout": "60",
    "net_write_timeout": "60",
    "performance_schema": "OFF",
    "query_cache_size": "1048576",
    "query_cache_type": "0",
    "query_timeout": "900",
    "show_hidden_columns": "0",
    "sql_auto_is_null": "0",
    "sql_mode": "ONLY_FULL_GROUP_BY",
    "sql_select_limit": "9223372036854775807",
    "system_time_zone": "UTC",
    "time_zone": "UTC",
    "transaction_isolation": "REPEATABLE-READ",
    "transaction_read_only": "0",
    "tx_isolation": "REPEATABLE-READ",
    "tx_read_only": "0",
    "version": "5.7.99",
    "version_comment": f"{VERSION_COMMENT} (DuckDB {duckdb.__version__})",
    "wait_timeout": "28800",
}
UTC_NAMES = ("utc", "+00:00", "+0:00", "etc/utc", "gmt", "z", "system")
MAX_TIMEOUT_S = 31_536_000


def value(own: dict[str, str], name: str) -> str:
    """The value of `@@name`. Raises SqlError for an unknown name."""
    name = name.lower()
    found = own.get(name, DEFAULTS.get(name))
    if found is None:
        raise errors.SqlError(f"Unknown system variable '{name}'", 1193)
    return found


def everything(own: dict[str, str]) -> dict[str, str]:
    return dict(sorted({**DEFAULTS, **own}.items()))


def timeout_s(own: dict[str, str]) -> int:
    """The session's query_timeout."""
    return int(value(own, "query_timeout"))


def assign(own: dict[str, str], text: str, tokens: list[Token]) -> None:
    """Carry out a SET statement. Raises SqlError."""
    cursor = Cursor(text, tokens)
    cursor.expect("SET")
    if cursor.token.is_word("PASSWORD", "PROPERTY", "LDAP_ADMIN_PASSWORD"):
        raise errors.unsupported(f"SET {cursor.token.value.upper()}")
    if any(t.is_word("NAMES", "CHARACTER", "CHARSET", "TRANSACTION") for t in tokens[1:3]):
        return
    for part in _split(tokens[1:]):
        place = next((i for i, t in enumerate(part) if t.is_symbol("=", ":=")), 0)
        if not place or place == len(part) - 1:
            raise cursor.unexpected("name = value")
        if not part[0].is_symbol("@"):  # a user's own variable is nowhere to be read, so it is taken and forgotten
            _store(own, part[place - 1].value.lower(), "".join(t.value for t in part[place + 1 :]))


def _store(own: dict[str, str], name: str, new: str) -> None:
    if new.upper() == "DEFAULT":
        own.pop(name, None)
        return
    if name == "time_zone" and new.lower() not in UTC_NAMES:
        raise errors.unsupported(f"time_zone {new}: only UTC is; it")
    if name == "query_timeout" and not (new.isdigit() and 0 < int(new) <= MAX_TIMEOUT_S):
        raise errors.SqlError(f"Variable 'query_timeout' can't be set to the value of '{new}'", 1231)
    own[name] = {"true": "1", "on": "1", "false": "0", "off": "0"}.get(new.lower(), new)


def _split(tokens: list[Token]) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += token.is_symbol("(") - token.is_symbol(")")
        if token.kind is Kind.END or token.is_symbol(";"):
            break
        if depth == 0 and token.is_symbol(","):
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]
