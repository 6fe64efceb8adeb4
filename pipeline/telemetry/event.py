"""One line of the log before it has a form: what happened and the fields that say more."""

from __future__ import annotations

from typing import Any

ROOT = "kube_collector"
"""Parent of all our loggers, so that our level is not that of libraries."""


class Event(dict[str, Any]):
    """Fields of a line, `event` among them; as text (before `logs.setup`, or under another handler) `event key=value …`."""

    def __str__(self) -> str:
        fields = " ".join(f"{key}={value}" for key, value in self.items() if key != "event")
        return f"{self['event']} {fields}".rstrip()
