"""One client of the SQL port: logs in, then has its commands answered one by one."""

from __future__ import annotations

import enum
import itertools
import logging
import socket

import duckdb

from sinks.doris_local import errors, mysql_wire, variables
from sinks.doris_local.access import Access
from sinks.doris_local.listener import HOST
from sinks.doris_local.mysql_wire import Packets
from sinks.doris_local.results import Done, Table
from sinks.doris_local.statements import Session, Statements


class Command(enum.IntEnum):
    """The first byte of what a client sends."""

    QUIT = 0x01
    INIT_DB = 0x02
    QUERY = 0x03
    FIELD_LIST = 0x04
    STATISTICS = 0x09
    PING = 0x0E
    CHANGE_USER = 0x11
    STMT_PREPARE = 0x16
    STMT_CLOSE = 0x19
    SET_OPTION = 0x1B
    RESET_CONNECTION = 0x1F


log = logging.getLogger(__name__)


class SqlPort:
    """Serves connections; the counterpart of Doris' query_port."""

    def __init__(self, access: Access, statements: Statements) -> None:
        self._access = access
        self._statements = statements
        self._ids = itertools.count(1)

    def serve(self, connection: socket.socket) -> None:
        client = _Client(connection, self._access, self._statements, next(self._ids))
        try:
            client.run()
        finally:
            client.close()


class _Client:
    def __init__(self, connection: socket.socket, access: Access, statements: Statements, connection_id: int) -> None:
        self._packets = Packets(connection)
        self._access = access
        self._statements = statements
        self._session = Session(connection_id=connection_id)
        self._salt = mysql_wire.new_salt()

    def close(self) -> None:
        self._packets.close()

    def run(self) -> None:
        self._packets.write(mysql_wire.greeting(self._session.connection_id, self._salt))
        self._packets.flush()
        if not self._log_in(mysql_wire.read_login(self._packets.read())):
            return
        while True:
            command = self._packets.read()
            if not command or command[0] == Command.QUIT:
                return
            try:
                self._answer(command[0], command[1:])
            except errors.SqlError as error:
                self._fail(error)
            except duckdb.Error as error:
                self._fail(self._statements.explain(error))
            except OSError:
                raise  # the client went away
            except Exception as error:
                log.exception("a command failed")
                self._fail(errors.refused(f"internal error of the local store: {error}"))
            self._packets.flush()

    def _fail(self, error: errors.SqlError) -> None:
        self._packets.write(mysql_wire.error(error.errno, error.sqlstate, error.message))

    def _log_in(self, login: mysql_wire.Login) -> bool:
        answer = login.answer
        if login.plugin != mysql_wire.PLUGIN:
            self._packets.write(mysql_wire.switch_plugin(self._salt))
            self._packets.flush()
            answer = self._packets.read()
        try:
            if not self._access.allows_scrambled(login.user, self._salt, answer):
                raise errors.access_denied(login.user, HOST, with_password=bool(answer))
            self._session = Session(connection_id=self._session.connection_id)
            if login.database:
                self._statements.use(self._session, login.database)
        except errors.SqlError as error:
            self._fail(error)
            self._packets.flush()
            return False
        self._packets.write(mysql_wire.ok())
        self._packets.flush()
        return True

    def _answer(self, command: int, payload: bytes) -> None:
        match command:
            case Command.QUERY:
                self._query(payload.decode("utf-8", "replace"))
            case Command.PING:
                self._packets.write(mysql_wire.ok())
            case Command.RESET_CONNECTION:
                self._session = Session(self._session.connection_id, database=self._session.database)
                self._packets.write(mysql_wire.ok())
            case Command.INIT_DB:
                self._statements.use(self._session, payload.decode())
                self._packets.write(mysql_wire.ok())
            case Command.FIELD_LIST:
                self._field_list(payload.partition(b"\0")[0].decode())
            case Command.STATISTICS:
                self._packets.write(variables.VERSION_COMMENT.encode())
            case Command.CHANGE_USER:
                if not self._log_in(mysql_wire.read_change_user(payload)):
                    raise mysql_wire.Gone("access denied")
            case Command.SET_OPTION:
                self._packets.write(mysql_wire.eof())
            case Command.STMT_PREPARE:
                raise errors.unsupported("a server-side prepared statement")
            case Command.STMT_CLOSE:
                pass  # no answer is expected, and there is nothing to close
            case _:
                raise errors.SqlError(f"Unsupported command(COM_{command:#04x})", 1047, "08S01")

    def _query(self, text: str) -> None:
        result = self._statements.execute(self._session, text)
        if isinstance(result, Done):
            self._packets.write(mysql_wire.ok(result.affected, result.info))
            return
        self._send(result)

    def _send(self, table: Table) -> None:
        try:
            mysql_wire.send_table(self._packets, table)
        finally:
            table.close()

    def _field_list(self, table: str) -> None:
        for definition in self._statements.fields(self._session, table):
            self._packets.write(mysql_wire.column(definition, for_field_list=True))
        self._packets.write(mysql_wire.eof())
