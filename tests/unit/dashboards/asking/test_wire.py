"""Answers as they come over a socket."""

from __future__ import annotations

import socket
import threading

import pytest

from dashboards.asking import wire
from dashboards.asking.wire import Place

HEAD = b"HTTP/1.1 200 OK\r\nServer: kube-collector/1\r\n"


def test_a_body_of_a_given_length_is_read_with_its_status_and_headers():
    got = wire.parse(HEAD + b"Content-Length: 2\r\n\r\n{}")
    assert (got.status, got.body, got.headers["server"]) == (200, b"{}", "kube-collector/1")


def test_a_body_without_a_length_ends_with_the_connection():
    assert wire.parse(b"HTTP/1.0 404 Not Found\r\n\r\nno\r\n\r\nsuch").body == b"no\r\n\r\nsuch"


def test_chunks_are_joined_with_extensions_and_trailers_left_out():
    chunks = b'5;x=1\r\n{"a":\r\n2\r\n1}\r\n0\r\nTrailer: x\r\n\r\n'
    assert wire.parse(HEAD + b"Transfer-Encoding: Chunked\r\n\r\n" + chunks).body == b'{"a":1}'


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"", "without an answer"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "does not speak HTTP"),
        (b"HTTP/1.1 OK\r\n\r\n", "does not speak HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-", "does not speak HTTP"),
        (HEAD + b"Content-Length: 3\r\n\r\n{}", "cut off"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{}", "cut off"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", "cut off"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nx\r\n", "cut off"),
    ],
)
def test_what_is_no_whole_answer_is_an_error_of_the_connection(answer, said):
    with pytest.raises(OSError, match=said):
        wire.parse(answer)


class Server:
    """Takes one connection, says something (or nothing) and holds it until the end."""

    def __init__(self, said: bytes) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.place = Place("127.0.0.1", self._listener.getsockname()[1], False, "x")
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(said,))
        self._thread.start()

    def _serve(self, said: bytes) -> None:
        connection, _ = self._listener.accept()
        with connection:
            connection.sendall(said)
            self._end.wait(60)

    def stop(self) -> None:
        self._end.set()
        self._thread.join()
        self._listener.close()


@pytest.fixture
def serving():
    made = []

    def serve(said):
        made.append(Server(said))
        return made[-1].place

    yield serve
    for each in made:
        each.stop()


def test_who_greets_in_another_language_is_not_waited_for(serving):
    place = serving(b"SSH-2.0-OpenSSH_9.6\r\n")
    with pytest.raises(OSError, match="does not speak HTTP"):
        wire.get(place, "/", 60)


def test_who_says_nothing_is_asked_after_and_given_up_if_nobody_is_there(serving, monkeypatch):
    monkeypatch.setattr(wire, "QUIET_S", 0.05)
    with pytest.raises(OSError, match="says nothing"):
        wire.get(serving(b""), "/", 60, lambda: False)


def test_an_answer_that_comes_while_nobody_seems_to_be_there_is_one(monkeypatch):
    monkeypatch.setattr(wire, "QUIET_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answers_late():
            connection, _ = listener.accept()
            with connection:
                assert connection.recv(65_536)
                connection.sendall(HEAD + b"Content-Length: 2\r\n\r\n{}")
            return False

        place = Place("127.0.0.1", listener.getsockname()[1], False, "x")
        assert wire.get(place, "/", 60, answers_late).body == b"{}"


def test_an_answer_that_takes_its_time_is_waited_for(monkeypatch):
    monkeypatch.setattr(wire, "QUIET_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        asked_after = threading.Event()

        def serve():
            connection, _ = listener.accept()
            with connection:
                assert connection.recv(65_536) and asked_after.wait(30)
                connection.sendall(HEAD + b"Content-Length: 2\r\n\r\n{}")

        thread = threading.Thread(target=serve)
        thread.start()
        place = Place("127.0.0.1", listener.getsockname()[1], False, "x")
        assert wire.get(place, "/", 60, lambda: asked_after.set() is None).body == b"{}"
        thread.join()
