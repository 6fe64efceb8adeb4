"""Log lines: `log = logs.get(__name__)`, then `log.info("what_happened", key=value)`.

An event is a name in snake case: fixed, so that it can be searched for, counted and named in the documents. All that differs
from line to line is a field; in words, `why` it happened, what is done `now`, and the `fix`.

Lines are events with fields, written through the standard library's loggers, so that a library's lines take the same way and
the same form: JSON on a pipe, coloured text on a terminal, always stderr. structlog makes the form; it is imported by
`setup`, not by `get`, since it takes 0.3 s and short commands never need it.

Fields: ts, level, event, stage, cluster, then what the line gives (kind, key, error_type, …), logger. An error line counts in
`kube_collector_errors_total` by itself.
"""

from __future__ import annotations

import logging
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TextIO

from pipeline import clock, retry
from pipeline.telemetry import catalogue
from pipeline.telemetry.event import ROOT, Event
from pipeline.telemetry.repeats import Repeats

if TYPE_CHECKING:
    from pipeline.config.ground import Log as Settings

_STAGES = frozenset({"collector", "aggregation", "sinks", "dashboards", "scheduler_core"})


class Log:
    """A named log. `bind` gives one with fields that every line carries; `error=` takes an exception apart."""

    def __init__(self, name: str, fields: dict[str, Any] | None = None) -> None:
        self._logger = logging.getLogger(f"{ROOT}.{name}")
        self._name = name
        self._fields = fields or {}

    def bind(self, **fields: Any) -> Log:
        return Log(self._name, self._fields | fields)

    def debug(self, event: str, **fields: Any) -> None:
        self._write(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: Any) -> None:
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, **fields: Any) -> None:
        """Something failed that should not."""
        self._write(logging.ERROR, event, fields)

    def exception(self, event: str, *, error: BaseException, **fields: Any) -> None:
        """As `error`, with the stack: for what nobody foresaw."""
        self._write(logging.ERROR, event, fields | {"error": error}, error)

    def _write(self, level: int, event: str, fields: dict[str, Any], stack: BaseException | None = None) -> None:
        if self._logger.isEnabledFor(level):
            error = fields.get("error")
            given = self._fields | fields | (_of(error) if isinstance(error, BaseException) else {})
            self._logger.log(level, Event(event=event, **given), stacklevel=3, exc_info=stack)


def get(name: str, **fields: Any) -> Log:
    """The log of a module; the stage of its lines is the first part of the name."""
    stage = name.split(".", 1)[0]
    return Log(name, ({"stage": stage} if stage in _STAGES else {}) | fields)


def setup(
    settings: Settings, *, cluster: str | None = None, stream: TextIO | None = None, colors: bool | None = None
) -> None:
    """Begins writing lines to `stream` (stderr). `colors` None colours on a terminal. May be called again."""
    stream = stream or sys.stderr
    as_text = settings.format == "text" or (settings.format == "auto" and stream.isatty())
    from pipeline.telemetry import form  # structlog: 0.3 s

    handler = _Handler(stream)
    handler.setFormatter(form.text(stream.isatty() if colors is None else colors) if as_text else form.json(cluster))
    root = logging.getLogger()
    for old in [each for each in root.handlers if isinstance(each, _Handler)]:
        root.removeHandler(old)
        old.flush_repeats(everything=True)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)  # libraries: kubernetes and httpx write whole answers at debug, secrets included
    set_level(settings.level)
    retry.observe(_retried)


def set_level(level: str) -> None:
    """Changes the least level of our lines: debug, info, warning, error."""
    logging.getLogger(ROOT).setLevel(level.upper())


def flush_repeats(*, everything: bool = False) -> None:
    """Writes how many lines were held back, of windows that are over or of all; the supervisor calls it each second."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, _Handler):
            handler.flush_repeats(everything=everything)


class _Handler(logging.StreamHandler[TextIO]):
    """Counts errors and holds back repeats before it writes."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self.repeats = Repeats()

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR:
            fields = record.msg if isinstance(record.msg, Event) else {}
            catalogue.errors.labels(fields.get("stage", "pipeline"), fields.get("error_type", "other")).inc()
        self._write_held()
        site = (record.pathname, record.lineno)
        event = record.msg["event"] if isinstance(record.msg, Event) else str(record.msg)
        if record.levelno <= logging.DEBUG or self.repeats.admit(site, event, clock.monotonic_s()):
            super().emit(record)
        else:
            catalogue.log_lines_held.inc()

    def flush_repeats(self, *, everything: bool) -> None:
        with self.lock or nullcontext():
            self._write_held(everything=everything)

    def _write_held(self, *, everything: bool = False) -> None:
        now_s = float("inf") if everything else clock.monotonic_s()
        for _, event, held in self.repeats.over(now_s):
            line = Event(event="lines_held_back", repeats=event, held=held)
            super().emit(logging.LogRecord(f"{ROOT}.pipeline.telemetry", logging.WARNING, "", 0, line, (), None))


def _of(error: BaseException) -> dict[str, Any]:
    return {"error_type": type(error).__name__, "error": str(error)}


_log = get("pipeline.retry")


def _retried(again: retry.Retry) -> None:
    catalogue.retries.labels(type(again.error).__name__).inc()
    _log.info("trying_again", failures=again.failures, wait_s=round(again.wait_s, 3), error=again.error)
