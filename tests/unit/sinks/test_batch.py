"""What of many rows becomes a load."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.rows import Row
from sinks import batch as batches
from sinks.base import Bad
from sinks.batch import Batch


def progress(version, stage="aggregation", log_at=0):
    return Row("progress", version, {"cluster": "c", "stage": stage, "log_at": log_at})


def event(uid, version, **values):
    return Row("event", version, {"day": 0, "cluster": "c", "uid": uid, "object_version": "1"} | values)


def test_of_each_key_only_the_highest_version_is_loaded():
    batch = Batch()
    for row in (event("a", 2, count=2), event("b", 1), event("a", 3, count=3), event("a", 1, count=1)):
        batch.add(row)
    (load,) = batch.loads()
    assert [(json.loads(line)["uid"], json.loads(line)["count"]) for line in load.lines] == [("a", 3), ("b", None)]
    assert batch.rows == 2


def test_of_equal_versions_the_later_row_stays():
    batch = Batch()
    batch.add(event("a", 1, reason="first"))
    batch.add(event("a", 1, reason="second"))
    assert json.loads(batch.loads()[0].lines[0])["reason"] == "second"


def test_progress_is_loaded_last():
    batch = Batch()
    batch.add(progress(1))
    batch.add(event("a", 1))
    batch.add(Row("decision", 1, {"day": 0, "cluster": "c", "id": "x"}))
    assert [load.table for load in batch.loads()][-1] == "progress"


def test_rows_without_table_or_key_are_kept_as_bad_input():
    batch = Batch()
    batch.add(Row("no_such_table", 1, {}))
    batch.add(Row("event", 1, {"day": 0, "cluster": "c"}))
    assert batch.loads() == [] and [bad.kind for bad in batch.bad] == ["no_such_table", "event"]


def test_a_row_that_cannot_be_written_does_not_take_the_others_with_it():
    batch = Batch()
    batch.add(event("a", 1, reason="\ud800"))
    batch.add(event("b", 1))
    batch.add(event("c", 1, observed_at="yesterday"))
    (load,) = batch.loads()
    assert len(load.lines) == 1 and len(batch.bad) == 2


def test_a_dead_letter_is_a_row_that_fits_its_table():
    row = batches.dead_letter(Bad("event", b"x" * 100_000, "why"), "c", 1_767_225_600_123)
    batch = Batch()
    batch.add(row)
    line = json.loads(batch.loads()[0].lines[0])
    assert line["size"] == 100_000 and len(line["bytes"]) < 90_000 and line["day"] == "2026-01-01"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 50)), max_size=40), st.randoms())
def test_the_order_of_rows_with_different_versions_does_not_matter(pairs, chance):
    unique = sorted(set(pairs))
    shuffled = chance.sample(unique, len(unique))

    def result(order):
        batch = Batch()
        for uid, version in order:
            batch.add(event(uid, version, count=version))
        return {line for load in batch.loads() for line in load.lines}

    assert result(unique) == result(shuffled)
