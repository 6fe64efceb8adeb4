"""Rows as lines of a load."""

from __future__ import annotations

import json

import pytest

from pipeline.records.rows import Row
from sinks.doris import lines

KEY = {"day": 0, "cluster": "c", "uid": "u", "object_version": "1"}


def event(**values):
    return Row("event", 7, KEY | values)


def test_a_line_has_text_for_times_and_carries_sequence_and_delete_sign():
    line = json.loads(lines.line(event(observed_at=1_767_225_600_123, count=2)))
    assert line["day"] == "1970-01-01" and line["observed_at"] == "2026-01-01 00:00:00.123"
    assert line["version"] == 7 and line["__DORIS_DELETE_SIGN__"] == 0 and line["count"] == 2


def test_a_deleted_row_needs_its_key_only():
    row = event()
    row.deleted = True
    line = json.loads(lines.line(row))
    assert line["__DORIS_DELETE_SIGN__"] == 1 and line["message"] is None


def test_a_text_is_cut_to_the_bytes_its_column_holds_on_a_characters_boundary():
    line = json.loads(lines.line(event(type="é" * 20, reason="x" * 300)))
    assert line["type"] == "é" * 16 and line["reason"] == "x" * 256


def test_a_text_that_just_fits_stays_whole():
    assert json.loads(lines.line(event(type="é" * 16)))["type"] == "é" * 16


def test_a_string_stays_below_the_limit_of_doris():
    line = json.loads(lines.line(event(message="m" * (lines.STRING_BYTES + 9))))
    assert len(line["message"]) == lines.STRING_BYTES


def test_json_that_is_too_long_is_left_out_instead_of_broken():
    row = Row("object_change", 1, KEY | {"change": "added", "summary": json.dumps("x" * lines.STRING_BYTES)})
    assert json.loads(lines.line(row))["summary"] is None


def test_a_key_is_never_cut():
    row = event(uid="u" * 300)
    assert json.loads(lines.line(row))["uid"] == "u" * 300


def test_a_text_that_no_utf8_can_hold_is_an_error():
    with pytest.raises(ValueError, match="surrogates"):
        lines.line(event(reason="\ud800"))


def test_a_line_is_one_line():
    assert b"\n" not in lines.line(event(message="a\nb"))
