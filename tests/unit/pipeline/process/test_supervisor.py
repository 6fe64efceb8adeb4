"""The life of a process, watched from inside: order, deaths, overruns, reloads."""

from __future__ import annotations

import json
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline import clock
from pipeline.config.load import Loaded, load
from pipeline.errors import ConfigInvalid, NotFound, UserError
from pipeline.process.loop import Loop
from pipeline.process.stage import Check
from pipeline.process.supervisor import Supervisor
from tests.support.cluster import free_port


class Recorded:
    """A stage that writes down what is done to it."""

    def __init__(self, name: str, seen: list[str], *, start: Exception | None = None, stop_s: float = 0.0) -> None:
        self.name = name
        self._seen = seen
        self._start = start
        self._stop_s = stop_s
        self.reloads: list[Loaded] = []

    def start(self) -> None:
        self._seen.append(f"start {self.name}")
        if self._start:
            raise self._start

    def stop(self, deadline_s: float) -> None:
        time.sleep(self._stop_s)
        self._seen.append(f"stop {self.name}")

    def checks(self) -> list[Check]:
        return [Check(self.name, True)]

    def reload(self, loaded: Loaded) -> None:
        self.reloads.append(loaded)


class Running:
    """A supervisor on a thread, and its exit code."""

    def __init__(self, supervisor: Supervisor) -> None:
        self.supervisor = supervisor
        self.code: int | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        self.code = self.supervisor.run()

    def until(self, condition: Callable[[], bool]) -> None:
        limit = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < limit, "the condition did not come true within 60 s"
            time.sleep(0.005)

    def end(self, code: int = 0) -> int | None:
        self.supervisor.finish(code)
        return self.ended()

    def ended(self) -> int | None:
        self._thread.join(60)
        assert not self._thread.is_alive()
        return self.code


@pytest.fixture
def run() -> Iterator[Callable[..., Running]]:
    running: list[Running] = []

    def start(*stages: object, loaded: Loaded | None = None, drain_s: float = 5.0, **options: object) -> Running:
        loaded = loaded or load([], {}, {})
        running.append(Running(Supervisor(stages, loaded, drain_s=drain_s, **options)))  # type: ignore[arg-type]
        return running[-1]

    yield start
    for each in running:
        each.end()


def test_stages_start_in_order_and_stop_in_reverse(run: Callable[..., Running]) -> None:
    seen: list[str] = []
    running = run(Recorded("a", seen), Recorded("b", seen))
    running.until(lambda: "start b" in seen)
    assert running.end() == 0
    assert seen == ["start a", "start b", "stop b", "stop a"]


def test_a_stage_that_cannot_start_has_the_others_stopped_and_its_error_raised() -> None:
    seen: list[str] = []
    stages = [Recorded("a", seen), Recorded("b", seen, start=UserError("no disk")), Recorded("c", seen)]
    with pytest.raises(UserError, match="no disk"):
        Supervisor(stages, load([], {}, {})).run()
    assert seen == ["start a", "start b", "stop b", "stop a"]


def test_the_first_asked_code_counts(run: Callable[..., Running]) -> None:
    running = run()
    running.supervisor.finish(7)
    assert running.end(0) == 7


class Dying:
    """A stage whose thread ends as the given body does."""

    name = "dying"

    def __init__(self, body: Callable[[Loop], None]) -> None:
        self.loop = Loop("dying loop", body)

    def start(self) -> None:
        self.loop.start()

    def stop(self, deadline_s: float) -> None:
        self.loop.stop(deadline_s)

    def checks(self) -> list[Check]:
        return [self.loop.check()]


def _raise(loop: Loop) -> None:
    raise ZeroDivisionError("gone")


@pytest.mark.parametrize("body", [_raise, lambda loop: None], ids=["raises", "returns"])
def test_a_thread_that_ends_too_early_ends_the_process(
    run: Callable[..., Running], body: Callable[[Loop], None], caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []
    running = run(Recorded("a", seen), Dying(body))
    assert running.ended() == 1
    assert seen == ["start a", "stop a"]
    assert "thread_died" in caplog.text


def test_what_a_person_can_mend_is_raised_as_such_when_all_has_ended(caplog: pytest.LogCaptureFixture) -> None:
    def refuse(_: Loop) -> None:
        raise NotFound("the name belongs to another cluster", where="collector.db", fix="Give it another name.")

    seen: list[str] = []
    with pytest.raises(NotFound, match="another cluster"):
        Supervisor([Recorded("a", seen), Dying(refuse)], load([], {}, {})).run()
    assert seen == ["start a", "stop a"]
    assert "Traceback" not in caplog.text


def test_a_stage_that_hangs_is_left_behind_and_the_others_are_stopped(
    run: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.process.supervisor._GRACE_S", 0.05)
    seen: list[str] = []
    codes: list[int] = []
    release = threading.Event()

    class Hanging(Recorded):
        def stop(self, deadline_s: float) -> None:
            release.wait(120)

    running = run(Recorded("a", seen), Hanging("b", seen), drain_s=0.1, exit_now=codes.append)
    running.until(lambda: "start b" in seen)
    assert running.end() == 1
    assert codes == [1]
    running.until(lambda: seen[2:] == ["stop a"])  # on a thread of its own, for which no time is left
    assert seen == ["start a", "start b", "stop a"]
    release.set()


def test_a_stage_that_fails_to_stop_is_logged_and_the_code_says_so(
    run: Callable[..., Running], caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(Recorded):
        def stop(self, deadline_s: float) -> None:
            raise OSError("disk full")

    codes: list[int] = []
    seen: list[str] = []
    running = run(Failing("b", seen), exit_now=codes.append)
    running.until(lambda: bool(seen))
    assert running.end() == 1
    assert "disk full" in caplog.text


def test_checks_cover_the_process_and_every_stage_even_one_that_cannot_say(run: Callable[..., Running]) -> None:
    class Silent(Recorded):
        def checks(self) -> list[Check]:
            raise RuntimeError("no idea")

    running = run(Recorded("a", []), Silent("b", []))
    running.until(lambda: running.supervisor.checks()[0].ok)
    assert running.supervisor.checks() == [
        Check("process", True, "running"),
        Check("a", True),
        Check("b", False, "its checks failed: no idea"),
    ]


def test_a_reload_takes_over_what_is_live_and_names_the_rest(run: Callable[..., Running], tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("log: {level: info}\n")
    stage = Recorded("a", [])
    running = run(stage, loaded=load([file], {}, {}))
    file.write_text("log: {level: debug, format: json}\n")
    assert running.supervisor.reload() == {"taken": ["log.level"], "waiting_for_restart": ["log.format"]}
    assert [(each.ground.log.level, each.ground.log.format) for each in stage.reloads] == [("debug", "auto")]
    shown = {row["key"]: row["value"] for row in running.supervisor.shown_settings()}
    assert (shown["log.level"], shown["log.format"]) == ("debug", "auto")


def test_a_bad_reload_changes_nothing_and_says_so(
    run: Callable[..., Running], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("log: {level: info}\n")
    stage = Recorded("a", [])
    running = run(stage, loaded=load([file], {}, {}))
    file.write_text("log: {levl: debug}\n")
    with pytest.raises(ConfigInvalid, match=r"did you mean level\?"):
        running.supervisor.reload()
    assert stage.reloads == []
    assert "old ones stay in use" in caplog.text


def test_the_admin_port_of_the_settings_answers_from_start_to_end(run: Callable[..., Running]) -> None:
    port = free_port()
    running = run(Recorded("a", []), loaded=load([], {}, {"admin.port": port}))
    running.until(lambda: running.supervisor.checks()[0].ok)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz?verbose", timeout=10) as response:
        assert response.read() == b"[+] process: running\n[+] a\nok\n"
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/debug/config", timeout=10) as response:
        assert {"key": "admin.port", "value": port, "origin": "--set admin.port"} in json.load(response)
    assert running.end() == 0
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_a_taken_admin_port_is_told_before_any_stage_starts() -> None:
    seen: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as other:
        loaded = load([], {}, {"admin.port": other.getsockname()[1]})
        with pytest.raises(UserError, match="is taken by another program"):
            Supervisor([Recorded("a", seen)], loaded).run()
    assert seen == []


def test_a_loop_is_well_while_it_turns_and_unwell_when_it_hangs_or_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 1000.0
    monkeypatch.setattr(clock, "monotonic_s", lambda: now_s)
    turned = threading.Event()

    def body(loop: Loop) -> None:
        turned.set()
        loop.stopping.wait()

    loop = Loop("l", body, stale_after_s=20.0)
    assert not loop.check().ok
    loop.start()
    assert turned.wait(60)
    now_s += 20.0
    assert loop.check() == Check("l", True, "last turn 20 s ago", live=True)
    now_s += 1.0
    assert loop.check() == Check("l", False, "last turn 21 s ago", live=True)
    loop.beat()
    assert loop.check() == Check("l", True, "last turn 0 s ago", live=True)
    assert loop.stop(60.0)
    assert loop.check() == Check("l", True, "ended", live=True)
