"""What an answer to Stream Load means. Pure: bytes in, a verdict out.

Doris answers HTTP 200 for success and failure alike, so only the JSON counts, and it comes in two shapes: a backend's
(`Status`, `Message`, …) and a frontend's (`status`/`code`, `msg`). Verdicts by `Status`:

    Success                                          loaded and visible
    Publish Timeout                                  committed, visible soon: sending it again would be a mistake
    Label Already Exists, job FINISHED               it was a replay: loaded before
    Label Already Exists, any other job state        the first try is still under way: ask for the label's state
    Fail                                             by message: bad rows, busy, refused, else try again
"""

from __future__ import annotations

import enum
from typing import Any

import msgspec

from pipeline.doris import errors

BUSY_RETRY_S = 5.0
"""After -235 (too many versions) compaction needs seconds, not milliseconds."""
REFUSED_RETRY_S = 10.0
"""A person has to do something first."""


class Outcome(enum.Enum):
    """How a load ended well."""

    LOADED = "loaded"
    ALREADY_LOADED = "already_loaded"
    """The label was used before and that load counts."""
    NOT_YET_VISIBLE = "not_yet_visible"
    """Committed; readers see it within seconds (Doris says `Publish Timeout`)."""


class Result(msgspec.Struct, frozen=True):
    """A load that counts: `rows` as Doris counted them, None when an earlier try loaded them."""

    outcome: Outcome
    label: str
    rows: int | None = None


class Undecided(Exception):
    """The label is in use by a load that has not ended; `state` as Doris names it."""

    def __init__(self, state: str) -> None:
        super().__init__(state)
        self.state = state


_BAD_ROWS = ("data_quality_error", "too many filtered rows", "unqualified data", "quality not good enough")
_BUSY = (
    "-235", "too_many_version", "tablet version count", "running txns on db", "mem_limit", "memory limit",
    "memory exceed", "no available memory", "too many requests",
)  # fmt: skip
_REFUSED = (
    "not_authorized", "unauthorized", "access denied", "denied", "no valid basic authorization", "privilege",
    "unknown database", "unknown table", "unknown column", "does not exist", "not found, table", "has sequence column",
    "no 100-continue",
)  # fmt: skip


def decode(body: bytes) -> dict[str, Any]:
    """The answer's JSON object. Raises Offline: bytes that are no answer leave the outcome open."""
    try:
        reply = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise errors.Offline(f"an answer that is not JSON: {body[:200]!r}") from error
    if not isinstance(reply, dict):
        raise errors.Offline(f"an answer that is no object: {body[:200]!r}")
    return reply


def judge(reply: dict[str, Any], label: str, sent_rows: int) -> Result:
    """The verdict on a load. Raises Undecided, BadRows, Busy, Refused, RowsLost or Offline."""
    status = str(reply.get("Status", ""))
    if status in {"Success", "Publish Timeout"}:
        return _loaded(reply, label, sent_rows, visible=status == "Success")
    if status == "Label Already Exists":
        state = str(reply.get("ExistingJobStatus", ""))
        if state == "FINISHED":
            return Result(Outcome.ALREADY_LOADED, label)
        raise Undecided(state or "UNKNOWN")
    raise failure(message_of(reply))


def message_of(reply: dict[str, Any]) -> str:
    """What the answer says in words, of either shape."""
    parts = [str(reply[key]) for key in ("Message", "msg", "data") if reply.get(key)]
    return ": ".join(parts) or f"no message ({reply.get('Status') or reply.get('status') or 'no status'})"


def failure(message: str) -> errors.BadRows | errors.Busy | errors.Refused | errors.Offline:
    """The error that a failed load's message stands for."""
    text = message.lower()
    if any(word in text for word in _BAD_ROWS):
        return errors.BadRows(message)
    if any(word in text for word in _BUSY):
        return errors.Busy(message, retry_after_s=BUSY_RETRY_S)
    if any(word in text for word in _REFUSED):
        return errors.Refused(message, retry_after_s=REFUSED_RETRY_S)
    return errors.Offline(message)


def _loaded(reply: dict[str, Any], label: str, sent_rows: int, *, visible: bool) -> Result:
    """Success, unless Doris counted fewer rows than were sent (builds for ARM before 2025 did, silently)."""
    total = reply.get("NumberTotalRows")
    if isinstance(total, int) and total != sent_rows:
        raise errors.RowsLost(f"Doris counted {total} rows of {sent_rows} under label {label}")
    return Result(Outcome.LOADED if visible else Outcome.NOT_YET_VISIBLE, label, total)
