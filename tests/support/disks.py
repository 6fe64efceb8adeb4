"""Small disks, for tests that fill them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small(folder: Path, size: str) -> Iterator[Path]:
    """A file system of its own at `folder`, made for the block. Skips the test without the right to mount one."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("needs the right to mount a tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """A file that takes every byte that is left; remove it to have them back."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for step in (64 << 10, 1):
            try:
                while True:
                    file.write(bytes(step))
            except OSError:
                pass  # full to within a step
    return filler
