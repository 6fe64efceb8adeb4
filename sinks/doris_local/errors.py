"""What this server answers when it will not do a thing: MySQL's number and state with Doris' sentence.

Doris puts nearly everything under 1105 and tells cases apart by text, so clients test on fragments of it; the fragments
here are Doris' own.
"""

from __future__ import annotations

from pipeline import errors

UNKNOWN_ERROR = 1105


class SqlError(errors.Terminal):
    """A refused statement. `errno` and `sqlstate` are MySQL's; `message` is what the client shows."""

    def __init__(self, message: str, errno: int = UNKNOWN_ERROR, sqlstate: str = "HY000") -> None:
        super().__init__(message)
        self.message = message
        self.errno = errno
        self.sqlstate = sqlstate


def refused(detail: str) -> SqlError:
    """An analysis error in Doris' usual form."""
    return SqlError(f"errCode = 2, detailMessage = {detail}")


def unsupported(what: str) -> SqlError:
    """Doris could do this; the local store does not."""
    return refused(f"{what} is not supported by the local store (a Doris-compatible subset)")


def unknown_database(name: str) -> SqlError:
    return SqlError(f"Unknown database '{name}'", 1049, "42000")


def no_database() -> SqlError:
    return SqlError("No database selected", 1046, "3D000")


def unknown_table(database: str, table: str) -> SqlError:
    return refused(f"Table [{table}] does not exist in database [{database}].")


def table_exists(table: str) -> SqlError:
    return SqlError(f"Table '{table}' already exists", 1050, "42S01")


def database_exists(name: str) -> SqlError:
    return SqlError(f"Can't create database '{name}'; database exists", 1007)


def access_denied(user: str, host: str, *, with_password: bool) -> SqlError:
    using = "YES" if with_password else "NO"
    return SqlError(f"Access denied for user '{user}@{host}' (using password: {using})", 1045, "28000")
