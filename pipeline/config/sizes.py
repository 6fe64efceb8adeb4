"""Sizes as people write them: `32MiB`, `1GB`, Kubernetes' `512Mi`, or a plain number of bytes."""

from __future__ import annotations

import re

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT]i?)?B?", re.ASCII)
_SCALE = {
    "": 1,
    "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
    "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40,
}  # fmt: skip


def parse_bytes(text: str) -> int:
    """The number of bytes; K is 1000 and Ki is 1024. Raises ValueError with what to write instead."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"invalid size {text!r} (write a size such as 512KiB, 32MiB or 1GiB)")
    return (
        round(float(match[1]) * _SCALE[match[2] or ""]) if "." in match[1] else int(match[1]) * _SCALE[match[2] or ""]
    )


def format_bytes(count: int) -> str:
    """The shortest exact form: `32MiB`, `1500B`, `0B`."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        scale = _SCALE[unit[:-1]]
        if count >= scale and count % scale == 0:
            return f"{count // scale}{unit}"
    return f"{count}B"
