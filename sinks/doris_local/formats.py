"""MySQL's format letters for dates, as `date_format` takes them, into those of DuckDB's strftime and strptime."""

from __future__ import annotations

import re

from sinks.doris_local import errors

# Doris understands these three words as well.
_WORDS = {"yyyyMMdd": "%Y%m%d", "yyyy-MM-dd": "%Y-%m-%d", "yyyy-MM-dd HH:mm:ss": "%Y-%m-%d %H:%i:%s"}
_LETTERS = {
    "Y": "%Y", "y": "%y", "m": "%m", "c": "%-m", "M": "%B", "b": "%b", "d": "%d", "e": "%-d", "j": "%j", "a": "%a",
    "W": "%A", "w": "%w", "H": "%H", "k": "%-H", "h": "%I", "I": "%I", "l": "%-I", "i": "%M", "s": "%S", "S": "%S",
    "f": "%f", "p": "%p", "T": "%H:%M:%S", "r": "%I:%M:%S %p", "v": "%V", "x": "%G", "%": "%%",
}  # fmt: skip
_TIME_LETTERS = frozenset("HkhIlisSfpTr")


def to_strftime(format_: str) -> str:
    """The same format for strftime. Raises SqlError for a letter that has no counterpart."""
    return re.sub(r"%(.)", _letter, _WORDS.get(format_, format_), flags=re.DOTALL)


def has_time(format_: str) -> bool:
    """Whether a text of this format names a time of day, so that it is a DATETIME and not a DATE."""
    letters = re.findall(r"%(.)", _WORDS.get(format_, format_))
    return any(letter in _TIME_LETTERS for letter in letters)


def _letter(match: re.Match[str]) -> str:
    if match[1] not in _LETTERS:
        raise errors.unsupported(f"date format '%{match[1]}'")
    return _LETTERS[match[1]]
