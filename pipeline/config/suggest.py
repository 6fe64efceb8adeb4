"""Did you mean …? Once for settings, commands and formats."""

from __future__ import annotations

from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` is most likely a slip of, or None when none is near."""
    from difflib import get_close_matches  # only on the error path: keeps it off the start-up

    matches = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return matches[0] if matches else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean …?)` with its leading space, or nothing."""
    match = closest(word, known)
    return f" (did you mean {match}?)" if match else ""
