"""The reflector and the client over real sockets, against a server that misbehaves on cue."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.kubeapi import happenings as tell
from pipeline.kubeapi.client import Client
from pipeline.kubeapi.credentials import Credentials
from pipeline.kubeapi.happenings import Happening, How
from pipeline.kubeapi.options import Options
from pipeline.kubeapi.progress import State
from pipeline.kubeapi.reflector import Reflector
from pipeline.kubeapi.resources import Collection, Resource
from pipeline.kubeapi.transport import ConnectFailed, ConnectionLost
from tests.support.scripted_api import Exchange, ScriptedApi, Then, chunks, page, status
from tests.support.scripted_transport import bookmark, frame, pod

PODS = Collection(Resource("", "v1", "pods", "Pod"))
QUICK = Options(
    silent_s=90.0, backoff_first_s=0.02, backoff_cap_s=0.1, slow_retry_s=0.1, settled_s=0.5, believed_after_s=0.3
)
ADDED = frame("ADDED", pod("资源", "11"))


SOON_S = 30.0
"""Long for a busy machine, and short beside what is not waited for: a silent stream, the next try."""


def until(condition: Callable[[], object], limit_s: float = 60.0) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    with ScriptedApi() as server:
        yield server


class Watcher:
    """A reflector in its thread."""

    def __init__(self, client: Client, options: Options = QUICK, **more: Any) -> None:
        self.reflector = Reflector(PODS, client.connection(), options, **more)
        self.told: list[Happening] = []
        self.thread = threading.Thread(target=self.reflector.run, args=(self.told.append,))

    def of(self, kind: type[Any]) -> list[Any]:
        return [each for each in list(self.told) if type(each) is kind]

    @property
    def versions(self) -> list[str]:
        return [each.version for told in self.of(tell.Frames) for each in told.frames]


@contextlib.contextmanager
def watching(api: ScriptedApi, tmp_path: Path, options: Options = QUICK, **more: Any) -> Iterator[Watcher]:
    with contextlib.closing(client_of(api, tmp_path)) as client:
        watcher = Watcher(client, options, **more)
        watcher.thread.start()
        try:
            yield watcher
        finally:
            watcher.reflector.stop()
            watcher.thread.join(SOON_S)
            assert not watcher.thread.is_alive()


def client_of(api: ScriptedApi, tmp_path: Path, user: dict[str, Any] | None = None) -> Client:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(json.dumps(api.kubeconfig(user)))
    return Client(Credentials(kubeconfig))


def test_a_list_and_its_watch(api: ScriptedApi, tmp_path: Path) -> None:
    api.lists.will(page("10", pod("a", "3"), token="t"), page("10", pod("b", "4")))
    api.watches.will(chunks(ADDED, bookmark("20"), then=Then.SILENCE))
    with watching(api, tmp_path) as watcher:
        until(lambda: watcher.of(tell.Bookmark))
        assert watcher.reflector.progress.state is State.WATCHING
    assert [each.last for each in watcher.of(tell.ListPage)] == [False, True]
    assert watcher.versions == ["11"]
    assert api.watches.versions == ["10"]
    assert api.watches.requests[0].headers["Authorization"] == "Bearer secret"


def test_a_body_cut_at_any_byte_loses_no_frame_and_brings_none_twice(api: ScriptedApi, tmp_path: Path) -> None:
    frames = [frame("ADDED", {"metadata": {"resourceVersion": str(n), "name": "源"}}) for n in (11, 12)]
    body = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in frames) + b"0\r\n\r\n"

    def cut_at(length: int) -> Callable[[Exchange], None]:
        def send(exchange: Exchange) -> None:
            exchange.begin()
            exchange.raw(body[:length])
            exchange.then(Then.CUT)

        return send

    options = Options(silent_s=90.0, backoff_first_s=0.0005, backoff_cap_s=0.001, settled_s=0.5)
    second = len(body) // 2
    for length in range(len(body)):
        api.watches.will(cut_at(length), chunks(then=Then.SILENCE))
        with watching(api, tmp_path, options, resume_from="10") as watcher:
            until(lambda: len(watcher.of(tell.WatchStarted)) == 2)
        came = watcher.versions
        assert came in ([], ["11"], ["11", "12"])
        assert api.watches.versions[-1] == (came[-1] if came else "10")
        last_chunk_came = length > len(body) - len(b"0\r\n\r\n")
        assert watcher.of(tell.StreamEnded)[0].how is (How.ORDERLY if last_chunk_came else How.CONNECTION), length
        if length > second + 20:
            assert came[:1] == ["11"]


def test_a_stream_without_chunks_is_read_as_it_comes(api: ScriptedApi, tmp_path: Path) -> None:
    def by_an_old_proxy(exchange: Exchange) -> None:
        exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + ADDED)
        exchange.then(Then.SILENCE)

    api.watches.will(by_an_old_proxy)
    with watching(api, tmp_path) as watcher:
        until(lambda: watcher.versions == ["11"])


@pytest.mark.parametrize("end", [Then.CUT, Then.RESET])
def test_a_lost_connection_is_opened_again_from_the_last_version(api: ScriptedApi, tmp_path: Path, end: Then) -> None:
    api.watches.will(chunks(ADDED, ADDED[:20], then=end), chunks(then=Then.SILENCE))
    with watching(api, tmp_path) as watcher:
        until(lambda: len(watcher.of(tell.WatchStarted)) == 2)
    assert api.watches.versions == ["1", "11"]
    assert api.probes.versions == ["11"]


def test_a_silent_stream_is_found_and_reopened(api: ScriptedApi, tmp_path: Path) -> None:
    api.watches.will(chunks(ADDED, then=Then.SILENCE))
    with watching(api, tmp_path, Options(silent_s=0.5, settled_s=0.1)) as watcher:
        until(lambda: [each.from_version for each in watcher.of(tell.WatchStarted)].count("11") >= 2)
        assert watcher.reflector.progress.silences >= 2
    versions = api.watches.versions
    assert versions == sorted(versions) and set(versions) == {"1", "11"}, "on a slow machine also a beginning is silent"
    assert [each.version for each in watcher.of(tell.Silent)].count("11") >= 2


def test_a_server_that_ends_every_watch_right_after_the_head_is_not_hammered(api: ScriptedApi, tmp_path: Path) -> None:
    api.watches.will(chunks(then=Then.END))
    options = Options(backoff_first_s=0.1, backoff_cap_s=10.0, settled_s=1.0)
    with watching(api, tmp_path, options) as watcher:
        until(lambda: len(watcher.of(tell.Retrying)) >= 3)
        asked = len(api.watches.requests)
        assert 3 <= asked <= len(watcher.of(tell.Retrying)) + 1, "one request a wait"
    assert [each.wait_s for each in watcher.of(tell.Retrying)] == sorted(
        each.wait_s for each in watcher.of(tell.Retrying)
    )


def test_a_server_that_comes_back_after_refusing_everybody(api: ScriptedApi, tmp_path: Path) -> None:
    api.watches.will(
        chunks(ADDED, then=Then.RESET),
        status(503),
        status(500, "InternalError"),
        status(429),
        chunks(then=Then.SILENCE),
    )
    with watching(api, tmp_path) as watcher:
        until(lambda: len(watcher.of(tell.WatchStarted)) == 2)
    assert len(watcher.of(tell.Retrying)) == 4
    assert len(watcher.of(tell.Back)) == 1


def test_a_port_that_takes_no_connection_is_told_from_an_answer_that_is_cut(api: ScriptedApi, tmp_path: Path) -> None:
    api.lists.will(chunks(b"{", then=Then.RESET))
    with contextlib.closing(client_of(api, tmp_path)) as client, pytest.raises(ConnectionLost) as cut:
        client.get(PODS.path)
    with ScriptedApi() as gone:
        pass
    with contextlib.closing(client_of(gone, tmp_path)) as client, pytest.raises(ConnectFailed, match="refused"):
        client.get(PODS.path)
    assert not isinstance(cut.value, ConnectFailed)


def test_an_expired_version_is_listed_again_even_if_the_list_fails_first(api: ScriptedApi, tmp_path: Path) -> None:
    error = frame("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"})
    api.lists.will(page("10"), status(500, "InternalError", "etcdserver: leader changed"), page("50", pod("b", "49")))
    api.watches.will(chunks(ADDED, error), chunks(then=Then.SILENCE))
    with watching(api, tmp_path) as watcher:
        until(lambda: len(watcher.of(tell.WatchStarted)) == 2)
    assert [each.from_version for each in watcher.of(tell.Expired)] == ["11"]
    assert api.watches.versions == ["10", "50"]


def test_stopping_does_not_wait_for_a_stream_that_says_nothing(api: ScriptedApi, tmp_path: Path) -> None:
    with watching(api, tmp_path, Options(silent_s=10 * SOON_S)) as watcher:
        until(lambda: watcher.of(tell.WatchStarted))
        watcher.reflector.stop()
        watcher.thread.join(SOON_S)
        assert not watcher.thread.is_alive()
    assert watcher.of(tell.StreamEnded) == []
    assert watcher.reflector.progress.state is State.STOPPED


def test_stopping_ends_a_long_wait_for_the_next_try(api: ScriptedApi, tmp_path: Path) -> None:
    api.lists.will(status(403, "Forbidden", "pods is forbidden"))
    with watching(api, tmp_path, Options(backoff_first_s=20 * SOON_S, slow_retry_s=20 * SOON_S)) as watcher:
        until(lambda: watcher.of(tell.Retrying))
        assert watcher.of(tell.Retrying)[0].wait_s >= 10 * SOON_S
        watcher.reflector.stop()
        watcher.thread.join(SOON_S)
        assert not watcher.thread.is_alive()
    assert len(watcher.of(tell.Forbidden)) == 1


def test_a_rotated_token_is_used_by_the_next_connection_and_leaves_the_open_one_alone(
    api: ScriptedApi, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("first\n")
    cut = threading.Event()

    def until_cut(exchange: Exchange) -> None:
        exchange.begin()
        cut.wait(120.0)
        exchange.then(Then.END)

    api.watches.will(until_cut, chunks(then=Then.SILENCE))
    with contextlib.closing(client_of(api, tmp_path, {"tokenFile": "token"})) as client:
        watcher = Watcher(client)
        watcher.thread.start()
        until(lambda: watcher.of(tell.WatchStarted))
        token.write_text("second\n")
        assert watcher.of(tell.StreamEnded) == []
        cut.set()
        until(lambda: len(api.watches.requests) == 2)
        watcher.reflector.stop()
        watcher.thread.join(SOON_S)
    assert [each.headers["Authorization"] for each in api.watches.requests] == ["Bearer first", "Bearer second"]


def test_a_refused_token_in_a_rewritten_kubeconfig_is_read_again(api: ScriptedApi, tmp_path: Path) -> None:
    def refuse_and_rewrite(exchange: Exchange) -> None:
        (tmp_path / "kubeconfig").write_text(json.dumps(api.kubeconfig({"token": "new"})))
        status(401, "Unauthorized", "Unauthorized")(exchange)

    api.lists.will(refuse_and_rewrite, page("10"))
    with watching(api, tmp_path) as watcher:
        until(lambda: watcher.of(tell.WatchStarted))
    assert [each.headers["Authorization"] for each in api.lists.requests] == ["Bearer secret", "Bearer new"]
    assert watcher.of(tell.Retrying)[0].wait_s == 0.0


def test_many_watches_share_one_pool_and_none_starves(api: ScriptedApi, tmp_path: Path) -> None:
    api.watches.will(chunks(ADDED, then=Then.SILENCE))
    with contextlib.closing(client_of(api, tmp_path)) as client:
        watchers = [Watcher(client) for _ in range(40)]
        for watcher in watchers:
            watcher.thread.start()
        until(lambda: all(watcher.versions == ["11"] for watcher in watchers))
        for watcher in watchers:
            watcher.reflector.stop()
        for watcher in watchers:
            watcher.thread.join(SOON_S)
    assert not any(watcher.thread.is_alive() for watcher in watchers)


def test_failed_requests_and_reconnects_leave_no_socket_and_no_thread(api: ScriptedApi, tmp_path: Path) -> None:
    api.watches.will(
        *[chunks(ADDED, then=Then.CUT), status(500), chunks(then=Then.RESET)] * 60, chunks(then=Then.SILENCE)
    )
    options = Options(backoff_first_s=0.0001, backoff_cap_s=0.0002, settled_s=0.5)
    with watching(api, tmp_path, options) as watcher:
        until(lambda: len(api.watches.requests) >= 5)
        before, threads = open_files(), threading.active_count()
        until(lambda: len(api.watches.requests) >= 181, 60.0)
        until(lambda: open_files() <= before + 4)
        until(lambda: threading.active_count() <= threads + 2)
    assert watcher.of(tell.Retrying)


def test_a_slow_consumer_holds_the_stream_back(api: ScriptedApi, tmp_path: Path) -> None:
    big = frame("ADDED", {"metadata": {"resourceVersion": "11"}, "x": "x" * 100_000})
    sent = 0

    def flood(exchange: Exchange) -> None:
        nonlocal sent
        exchange.begin()
        for _ in range(1000):
            exchange.chunk(big)
            sent += 1
        exchange.then(Then.SILENCE)

    api.watches.will(flood)
    release = threading.Event()
    got: list[Happening] = []

    def consumer(happening: Happening) -> None:
        got.append(happening)
        if isinstance(happening, tell.Frames):
            release.wait(120.0)

    with contextlib.closing(client_of(api, tmp_path)) as client:
        reflector = Reflector(PODS, client.connection(), QUICK)
        thread = threading.Thread(target=reflector.run, args=(consumer,))
        thread.start()
        until(lambda: any(isinstance(each, tell.Frames) for each in got))
        settled = -1
        while settled != sent:
            settled = sent
            time.sleep(0.3)
        assert sent < 500, "what the consumer does not take stays with the server"
        release.set()
        until(lambda: reflector.progress.frames == 1000, 180.0)
        reflector.stop()
        thread.join(SOON_S)
    assert reflector.progress.silences == 0
