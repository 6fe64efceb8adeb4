"""A listening socket on loopback and one thread a connection: the ground of both protocols.

Threads fit here: the work is DuckDB's, which lets go of the interpreter lock, and clients are few.
"""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable

HOST = "127.0.0.1"
MAX_CONNECTIONS = 1024  # FE qe_max_connection

log = logging.getLogger(__name__)


class Listener:
    """Accepts on `port` (0: a free one; see the attribute) and runs `serve(connection)` for each client in a thread.

    `serve` returns when the client is done; an error of the socket ends it quietly, any other is logged.
    """

    def __init__(self, port: int, serve: Callable[[socket.socket], None]) -> None:
        self._serve = serve
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._stopped = False
        self._socket = socket.create_server((HOST, port), backlog=128)
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, name=f"accept-{self.port}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Accept no more and read no more; what was read is answered yet."""
        with self._lock:
            self._stopped = True
            for each in (self._socket, *self._open):
                try:
                    each.shutdown(socket.SHUT_RD)  # wakes the thread that waits for it; closing alone does not
                except OSError:
                    pass  # the client was faster
        self._socket.close()

    @property
    def busy(self) -> bool:
        """Whether a client is still being served."""
        with self._lock:
            return bool(self._open)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # stopped
            with self._lock:
                refused = self._stopped or len(self._open) >= MAX_CONNECTIONS
                if not refused:
                    self._open.add(connection)
            if refused:
                connection.close()
                continue
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection: socket.socket) -> None:
        try:
            self._serve(connection)
        except OSError:
            pass  # the client went away
        except Exception:
            log.exception("a connection failed")
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()
