"""Answers as they come over a socket."""

from __future__ import annotations

import pytest

from dashboards.asking import wire

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
