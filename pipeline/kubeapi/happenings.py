"""What a reflector tells its consumer, in order, one struct each.

The consumer is called from the reflector's thread and may block: then nothing is read, and the server holds the stream
back. What it must hold to:

- `ListStarted`, then `ListPage`s until one has `last`: the whole collection. What it knows and no page showed is gone.
  The list's version, from which the watch goes on, is the last page's `version`.
- `ListRestarted` inside a list: pages begin anew; what earlier pages of this list showed may come again.
- Between two lists only `Frames` change anything. `Bookmark` moves the version and nothing else.
- `Expired`: the server does not know our version any more; the list that follows shows what became of everything, but
  not what happened between `from_ms` and that list.
- `Retrying`: nothing comes for now; `Back` when it does again. `Forbidden` and `NotServed` come once in such a time,
  when the server has refused for long enough that it can be believed.
"""

from __future__ import annotations

import enum

import msgspec

from pipeline.kubeapi import statuses
from pipeline.kubeapi.frames import BadLine, Frame


class Why(enum.StrEnum):
    """Why a list is needed, or a version of no use."""

    START = "start"
    EXPIRED = "expired"
    AHEAD = "ahead"
    SERVED_AGAIN = "served_again"
    CUT = "cut"
    """A list that streams was cut before its end."""


class How(enum.StrEnum):
    """How a stream ended."""

    ORDERLY = "orderly"
    ERROR = "error"
    CONNECTION = "connection"
    SILENT = "silent"


class Doing(enum.StrEnum):
    LIST = "list"
    WATCH = "watch"
    PROBE = "probe"


class Happening(msgspec.Struct, frozen=True):
    """Base of all; `at_ms` is when it happened (for data: when its bytes were received), ms UTC."""

    at_ms: int


class ListStarted(Happening, frozen=True):
    why: Why


class ListPage(Happening, frozen=True):
    """Some of the collection's objects as they are at `version`. Items lack `kind` and `apiVersion`: take them from here.

    In a list that streams (`Options.streamed_list`) items are whole objects, `version` is empty in all pages but the
    last, and a `Frames` with a deletion may come between two pages.
    """

    items: list[msgspec.Raw]
    kind: str
    api_version: str
    version: str
    last: bool
    lossy: bool = False


class ListRestarted(Happening, frozen=True):
    why: Why


class WatchStarted(Happening, frozen=True):
    from_version: str


class Frames(Happening, frozen=True):
    """Object frames (ADDED, MODIFIED, DELETED) in the server's order; never empty."""

    frames: list[Frame]


class Bookmark(Happening, frozen=True):
    version: str


class BadLines(Happening, frozen=True):
    """What could not be decoded, for the dead letter; the stream goes on."""

    lines: list[BadLine]


class StreamEnded(Happening, frozen=True):
    """`discarded_bytes`: the beginning of a frame that was cut off; it will be sent again."""

    how: How
    detail: str = ""
    discarded_bytes: int = 0


class Silent(Happening, frozen=True):
    """Nothing came for `for_s`: the stream was taken for dead, closed, and will be opened again from `version`."""

    for_s: float
    version: str


class Expired(Happening, frozen=True):
    """`from_version` is of no use. `from_ms`: until then everything is known to have come; None = since before this process."""

    from_version: str
    from_ms: int | None
    why: Why


class Forbidden(Happening, frozen=True):
    message: str


class NotServed(Happening, frozen=True):
    message: str


class Retrying(Happening, frozen=True):
    """A try failed; the next one comes in `wait_s`. `attempt` counts failures in a row."""

    doing: Doing
    attempt: int
    wait_s: float
    action: statuses.Action
    error: str


class Back(Happening, frozen=True):
    """The first success after `Forbidden`, `NotServed` or `Retrying`; `after_s` since the first of them."""

    after_s: float
