"""What watches told waits in order and in bounded memory."""

from __future__ import annotations

import threading

import msgspec

from collector.watch.inbox import Inbox
from pipeline.kubeapi import happenings as tell
from pipeline.kubeapi.frames import BadLine, Frame
from tests.support.cluster import poll


def frames(size: int) -> tell.Frames:
    raw = b"x" * size
    return tell.Frames(1, [Frame("ADDED", msgspec.Raw(b"{}"), "1", raw)])


def page(size: int) -> tell.ListPage:
    return tell.ListPage(1, [msgspec.Raw(b"x" * size)], "Pod", "v1", "1", last=True)


def test_what_was_put_first_is_taken_first_and_an_empty_one_gives_nothing() -> None:
    inbox = Inbox()
    inbox.put("pods", frames(10))
    inbox.put("nodes", tell.Bookmark(1, "7"))
    assert inbox.take() == ("pods", frames(10))
    assert inbox.take() == ("nodes", tell.Bookmark(1, "7"))
    assert inbox.take(0.01) is None
    assert inbox.bytes == 0


def test_objects_count_by_their_bytes_wherever_they_are() -> None:
    for told in (frames(50_000), page(50_000), tell.BadLines(1, [BadLine(b"x" * 50_000, "broken")])):
        inbox = Inbox()
        inbox.put("pods", told)
        assert 50_000 <= inbox.bytes < 51_000


def test_whoever_puts_waits_while_it_is_full_and_the_order_stays() -> None:
    inbox = Inbox(max_bytes=1000)
    done: list[int] = []

    def put() -> None:
        for n in range(4):
            inbox.put("pods", frames(700 + n))
            done.append(n)

    thread = threading.Thread(target=put)
    thread.start()
    poll("two are in it", lambda: done == [0, 1])
    assert inbox.bytes > 1000, "one that is larger than what is left goes in whole"
    taken = [inbox.take(60.0) for _ in range(4)]
    thread.join(60.0)
    assert [told[1] for told in taken if told] == [frames(700 + n) for n in range(4)]


def test_closing_lets_those_who_wait_go_and_keeps_what_is_in_it() -> None:
    inbox = Inbox(max_bytes=1)
    inbox.put("pods", frames(10))
    put: list[bool] = []
    thread = threading.Thread(target=lambda: put.append(inbox.put("pods", frames(20))))
    thread.start()
    inbox.close()
    thread.join(60.0)
    assert put == [False]
    assert inbox.take() == ("pods", frames(10))
    assert inbox.take() is None
