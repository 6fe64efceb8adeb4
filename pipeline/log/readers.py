"""How far each named reader has come: `readers/NAME.json` beside what it reads, for retention only.

A reader keeps its own position with its own output; this copy tells the writer what it may remove. A reader is
registered with its first ack and holds everything behind that ack until it is forgotten. A file that cannot be read
holds everything: better a full disk, which is loud, than a silent loss.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TypeVar

import msgspec

from pipeline import faults
from pipeline.log import layout

FOLDER = "readers"
SCHEDULER = "scheduler"
"""The shadow scheduler among them: it acks what its last snapshot holds, not what it has read."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,62}")

Ack = TypeVar("Ack")


def write(directory: Path, name: str, ack: object) -> None:
    """Replace a reader's ack, durably. Raises ValueError for a name that is no file name."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"not a reader's name: {name!r} (lower case letters, digits, '-', '_', '.')")
    folder = directory / FOLDER
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        layout.sync_directory(directory)
    replace(folder / f"{name}.json", msgspec.json.encode(ack) + b"\n")


def replace(path: Path, content: bytes, fault: str = "log.replace") -> None:
    """Put content in the place of a file: after a crash it is the old one or the new one, never a part.

    `fault`: name of the fault point at which only the draft is there.
    """
    draft = path.with_name(path.name + ".new")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    faults.point(fault)
    draft.replace(path)


def read(directory: Path, name: str, kind: type[Ack]) -> Ack | None:
    """A reader's ack; None when it has none or its file cannot be read."""
    try:
        return msgspec.json.decode((directory / FOLDER / f"{name}.json").read_bytes(), type=kind)
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def read_all(directory: Path, kind: type[Ack]) -> dict[str, Ack | None]:
    """Every registered reader with its ack; None for a file that cannot be read."""
    return {name: read(directory, name, kind) for name in registered(directory)}


def registered(directory: Path) -> list[str]:
    """Names of the registered readers."""
    return sorted(path.name.removesuffix(".json") for path in (directory / FOLDER).glob("*.json"))


def forget(directory: Path, name: str) -> bool:
    """Take a reader off the list, so that it holds nothing any more; False when it was not on it."""
    try:
        (directory / FOLDER / f"{name}.json").unlink()
    except FileNotFoundError:
        return False
    return True
