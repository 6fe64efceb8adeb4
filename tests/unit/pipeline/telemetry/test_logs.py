"""Lines of the log: their form, their level, what is held back, what is never in one."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from pipeline import retry
from pipeline.config.ground import Log as Settings
from pipeline.errors import Transient
from pipeline.telemetry import catalogue, logs
from pipeline.telemetry.metrics import REGISTRY

log = logs.get("collector.watch")


class Written(io.StringIO):
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.getvalue().splitlines()]


@pytest.fixture
def out() -> Iterator[Written]:
    """Where lines go, at level debug as JSON; the loggers are put back afterwards."""
    root, ours = logging.getLogger(), logging.getLogger("kube_collector")
    before, levels = list(root.handlers), (root.level, ours.level)
    stream = Written()
    logs.setup(Settings(level="debug"), cluster="prod", stream=stream)
    yield stream
    root.handlers[:] = before
    root.setLevel(levels[0])
    ours.setLevel(levels[1])
    retry.observe(None)


def test_a_line_is_an_object_with_its_fields_in_reading_order(out: Written) -> None:
    log.bind(kind="pods").info("list complete", count=3)
    [line] = out.lines()
    assert list(line) == ["ts", "level", "event", "stage", "cluster", "kind", "count", "logger"]
    assert line["ts"].endswith("Z") and len(line["ts"]) == len("2026-03-01T10:20:05.123Z")
    assert {key: line[key] for key in list(line)[1:]} == {
        "level": "info", "event": "list complete", "stage": "collector", "cluster": "prod", "kind": "pods", "count": 3,
        "logger": "collector.watch",
    }  # fmt: skip


def test_lines_of_libraries_take_the_same_form_from_warning_up(out: Written) -> None:
    logging.getLogger("urllib3").warning("retry %d", 2)
    logging.getLogger("urllib3").info("connected")
    [line] = out.lines()
    assert (line["event"], line["level"], line["logger"]) == ("retry 2", "warning", "urllib3")


def test_the_level_can_be_changed_while_it_runs(out: Written) -> None:
    log.debug("one")
    logs.set_level("warning")
    log.info("two")
    log.warning("three")
    assert [line["event"] for line in out.lines()] == ["one", "three"]


def test_an_error_is_taken_apart_and_counted(out: Written) -> None:
    before = (
        REGISTRY.get_sample_value("kube_collector_errors_total", {"stage": "collector", "error_type": "OSError"}) or 0
    )
    log.error("cannot write", error=OSError("disk full"))
    [line] = out.lines()
    assert (line["error_type"], line["error"]) == ("OSError", "disk full")
    after = REGISTRY.get_sample_value("kube_collector_errors_total", {"stage": "collector", "error_type": "OSError"})
    assert after == before + 1


def test_the_stack_is_there_only_for_what_nobody_foresaw(out: Written) -> None:
    try:
        raise ZeroDivisionError("gone")
    except ZeroDivisionError as error:
        log.exception("unexpected", error=error)
        log.error("expected", error=error)
    unexpected, expected = out.lines()
    assert "Traceback" in unexpected["exception"] and "exception" not in expected


def test_no_secret_passes_by_name_by_value_or_inside_an_error(out: Written) -> None:
    try:
        raise OSError("cannot reach https://user:hunter2@host/?token=hunter2")
    except OSError as error:
        log.exception("failed", error=error, password="hunter2", headers={"Authorization": "Bearer hunter2hunter2"})
    assert "hunter2" not in out.getvalue()
    assert out.lines()[0]["error"] == "cannot reach https://***@host/?token=***"


def test_a_call_site_that_repeats_itself_is_held_back_and_summed_up(out: Written) -> None:
    held = catalogue.log_lines_held._value.get()
    for number in range(25):
        log.warning("again", number=number)
    log.warning("another place")
    logs.flush_repeats(everything=True)
    events = [line["event"] for line in out.lines()]
    assert events == ["again"] * 10 + ["another place", "lines_held_back"]
    assert (out.lines()[-1]["repeats"], out.lines()[-1]["held"]) == ("again", 15)
    assert catalogue.log_lines_held._value.get() == held + 15


def test_debug_lines_are_never_held_back(out: Written) -> None:
    for _ in range(25):
        log.debug("detail")
    assert len(out.lines()) == 25


def test_text_is_for_people_and_coloured_only_when_asked(out: Written) -> None:
    stream = io.StringIO()
    logs.setup(Settings(format="text"), stream=stream, colors=False)
    log.warning("watch ended", kind="pods")
    assert "\x1b" not in stream.getvalue()
    assert "watch ended" in stream.getvalue() and "kind=pods" in stream.getvalue()
    assert out.getvalue() == ""
    logs.setup(Settings(format="text"), stream=stream, colors=True)
    log.warning("watch ended")
    assert "\x1b" in stream.getvalue()


def test_retries_are_logged_and_counted(out: Written) -> None:
    tries = iter([Transient("busy", retry_after_s=0.001)])

    def call() -> str:
        for error in tries:
            raise error
        return "done"

    assert retry.call(call) == "done"
    [line] = out.lines()
    assert (line["event"], line["error"], line["failures"]) == ("trying_again", "busy", 1)


def test_before_set_up_warnings_reach_stderr_as_text_and_stdout_stays_clean() -> None:
    program = "from pipeline.telemetry import logs; logs.get('collector.x').warning('early', kind='pods')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "early stage=collector kind=pods\n")
