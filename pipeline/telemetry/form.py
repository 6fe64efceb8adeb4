"""The two forms of a line: JSON for machines, coloured text for people. Every field passes `redact` on its way."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.typing import EventDict, Processor

from pipeline.telemetry import redact
from pipeline.telemetry.event import ROOT, Event


def json(cluster: str | None) -> logging.Formatter:
    """One object a line, `ts` in RFC 3339 UTC with milliseconds."""
    return _formatter(
        lambda at_s: datetime.fromtimestamp(at_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        {"cluster": cluster} if cluster else {},
        structlog.processors.JSONRenderer(
            serializer=lambda line, **_: msgspec.json.encode(line, enc_hook=str).decode()
        ),
    )


def text(colors: bool) -> logging.Formatter:
    """Aligned text, local time of day."""
    console = structlog.dev.ConsoleRenderer(
        colors=colors,
        timestamp_key="ts",
        sort_keys=False,
        pad_event_to=32,
        exception_formatter=structlog.dev.plain_traceback,
    )
    return _formatter(lambda at_s: datetime.fromtimestamp(at_s).strftime("%H:%M:%S"), {}, console)


def _formatter(stamp: Callable[[float], str], constant: dict[str, Any], renderer: Processor) -> logging.Formatter:
    def arranged(_: Any, __: str, event: EventDict) -> EventDict:
        """The fields in the order in which they are read, from our own lines and from those of libraries."""
        record: logging.LogRecord = event["_record"]
        given = dict(record.msg) if isinstance(record.msg, Event) else {"event": event["event"]}
        head = {"ts": stamp(record.created), "level": record.levelname.lower(), "event": given.pop("event")}
        stage = {"stage": given.pop("stage")} if "stage" in given else {}
        line = head | stage | constant | given | {"logger": record.name.removeprefix(f"{ROOT}.")}
        return line | {"exc_info": event["exc_info"]} if event.get("exc_info") else line

    def redacted(_: Any, __: str, event: EventDict) -> EventDict:
        return {key: redact.field(key, value) for key, value in event.items()}

    stack = structlog.processors.format_exc_info
    return ProcessorFormatter(processors=[arranged, stack, redacted, renderer])
