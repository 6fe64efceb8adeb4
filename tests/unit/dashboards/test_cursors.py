"""Cursors: back as they went, and nothing else is taken for one."""

from __future__ import annotations

import base64

import msgspec
import pytest

from dashboards import cursors
from dashboards.figures import jobs, violations
from pipeline.errors import BadUsage


@pytest.mark.parametrize(
    "cursor",
    [jobs.Cursor("-wait", 1_767_225_600_000, -(2**53), "", "prod", "uid"), violations.Cursor(5, "c", "名", 2)],
)
def test_a_cursor_comes_back_as_it_went(cursor):
    text = cursors.encode(cursor)
    assert text.isascii() and "=" not in text
    assert cursors.decode(text, type(cursor)) == cursor


@pytest.mark.parametrize(
    "text",
    [
        "x", "!!!!", "AAAA", "名", cursors.encode(violations.Cursor(5, "c", "u", 2)),
        base64.urlsafe_b64encode(msgspec.msgpack.encode(["-wait", "no number"])).decode(),
        base64.urlsafe_b64encode(msgspec.msgpack.encode(["-wait", 10**18, 0, "", "", ""])).decode(),
        base64.urlsafe_b64encode(msgspec.msgpack.encode(["-wait", 0, 10**18, "", "", ""])).decode(),
    ],
)  # fmt: skip
def test_anything_else_is_refused(text):
    with pytest.raises(BadUsage, match="cursor cannot be read"):
        cursors.decode(text, jobs.Cursor)
