"""Sizes with a unit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config import sizes


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 0),
        ("17", 17),
        ("17B", 17),
        ("1K", 1000),
        ("1KB", 1000),
        ("1Ki", 1024),
        ("1.5 GiB", 3 * 2**29),
        ("2T", 2 * 10**12),
    ],
)
def test_sizes_are_read_with_decimal_and_binary_units(text: str, count: int) -> None:
    assert sizes.parse_bytes(text) == count


@pytest.mark.parametrize("text", ["", "MiB", "-1", "1 kib", "1e3", "1,5G", "1Gb"])
def test_anything_else_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match="write a size such as 512KiB"):
        sizes.parse_bytes(text)


@given(st.integers(0, 2**60))
def test_what_is_written_is_read_back_exactly(count: int) -> None:
    assert sizes.parse_bytes(sizes.format_bytes(count)) == count
