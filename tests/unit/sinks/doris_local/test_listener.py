"""The listening socket, and clients that come while it is closed."""

from __future__ import annotations

import socket
import threading

from sinks.doris_local.listener import Listener
from tests.support.cluster import poll


class Slow:
    """A socket that holds a client back for a while after it was taken."""

    def __init__(self, real: socket.socket) -> None:
        self._real = real
        self.taken, self.go_on = threading.Event(), threading.Event()

    def accept(self) -> tuple[socket.socket, object]:
        found = self._real.accept()
        self.taken.set()
        assert self.go_on.wait(120)
        return found

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)


def serve(connection: socket.socket) -> None:
    """Until the client goes away."""
    while connection.recv(100):
        pass


def test_a_client_that_was_taken_while_it_stops_is_not_served() -> None:
    listener = Listener(0, serve)
    slow = listener._socket = Slow(listener._socket)
    listener.start()
    with socket.create_connection(("127.0.0.1", listener.port)) as client:
        assert slow.taken.wait(120)
        listener.stop()
        slow.go_on.set()
        client.settimeout(120)
        assert client.recv(1) == b"", "it is told"
        poll("nobody is served", lambda: not listener.busy)
