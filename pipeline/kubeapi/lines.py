"""Whole lines out of a stream of byte chunks. Pure.

A watch is a stream of JSON values, one a line. Chunks end anywhere: inside a line, inside a character. So bytes are
split at the newline byte only and nobody decodes a chunk; what a splitter returns does not depend on how the stream was
cut. Blank lines are not lines. A line longer than `max_line_bytes` is cut there, its rest is dropped and counted, and
whoever decodes it will find it broken: so no server can make us hold an endless line.
"""

from __future__ import annotations

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Ten times the largest object that etcd stores."""


class LineSplitter:
    """Feed it chunks, take the lines that became whole. One splitter a stream."""

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._max_line_bytes = max_line_bytes
        self._parts: list[bytes] = []
        self.pending_bytes = 0
        """Bytes of the line that is not whole yet; at the end of a stream: what was lost of its last line."""
        self.dropped_bytes = 0
        """Bytes beyond `max_line_bytes`, dropped so far."""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Lines that this chunk completes, without their newline."""
        end = chunk.find(b"\n")
        if end < 0:
            self._hold(chunk)
            return []
        self._hold(chunk[:end])
        lines = [b"".join(self._parts)]
        begin = end + 1
        while (end := chunk.find(b"\n", begin)) >= 0:  # `split` looks at each byte, this at many at a time
            lines.append(chunk[begin:end])
            begin = end + 1
        self._parts, self.pending_bytes = [], 0
        self._hold(chunk[begin:])
        if len(chunk) > self._max_line_bytes:
            lines = [self._cut(line) for line in lines]
        return [line for line in lines if line and not line.isspace()]

    def _hold(self, part: bytes) -> None:
        kept = part[: self._max_line_bytes - self.pending_bytes]
        self.dropped_bytes += len(part) - len(kept)
        if kept:
            self._parts.append(kept)
            self.pending_bytes += len(kept)

    def _cut(self, line: bytes) -> bytes:
        self.dropped_bytes += max(0, len(line) - self._max_line_bytes)
        return line[: self._max_line_bytes]
