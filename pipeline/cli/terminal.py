"""What the person at the other end can see: colour, width, how much they want to be told.

stdout carries data only; `hint` and everything else that is not data goes to stderr.
"""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from typing import Literal, TextIO

Style = Literal["red", "green", "yellow", "blue", "dim", "bold"]
_CODES: dict[Style, str] = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "dim": "2", "bold": "1"}


class _Wishes:
    """What the options of the running command ask for."""

    color = "auto"
    quiet = False
    verbose = False
    debug = False


wishes = _Wishes()


def reset() -> None:
    """Forgets the wishes of the last command; a process that runs several (tests, completion) calls this between."""
    wishes.color, wishes.quiet, wishes.verbose, wishes.debug = "auto", False, False, False


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at the stream directly."""
    return stream.isatty()


def colored(stream: TextIO) -> bool:
    """Whether to colour: `--color`, then NO_COLOR, then whether the stream is a terminal that can."""
    if wishes.color != "auto":
        return wishes.color == "always"
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and is_terminal(stream)


def paint(text: str, style: Style | None, stream: TextIO) -> str:
    """The text in a style, if the stream is coloured."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if style and colored(stream) else text


def width(stream: TextIO) -> int | None:
    """Columns of the terminal; None for a pipe or file, where nothing is ever cut."""
    return shutil.get_terminal_size().columns if is_terminal(stream) else None


def cells(text: str) -> int:
    """Columns that a text takes: two for wide characters, none for combining ones."""
    return len(text) if text.isascii() else sum(_cell(character) for character in text)


def cut(text: str, room: int) -> str:
    """The text in at most `room` columns, an ellipsis for what is left out."""
    if cells(text) <= room:
        return text
    taken, used = "", 0
    for character in text:
        used += _cell(character)
        if used > room - 1:
            break
        taken += character
    return taken + "…"


def hint(text: str) -> None:
    """A remark for a person, on stderr, unless `-q`."""
    if not wishes.quiet:
        print(text, file=sys.stderr)  # noqa: T201


def warn(text: str) -> None:
    """Something that was answered, and may not be what was meant; on stderr, unless `-q`."""
    hint(f"{paint('Warning:', 'yellow', sys.stderr)} {text}")


def _cell(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
