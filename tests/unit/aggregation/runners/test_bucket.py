"""The machine of one bucket, with a small operator: a job's state is the list of what it saw."""

from typing import NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.runners.bucket import Bucket, Stored
from pipeline.records.envelope import EventRecord
from pipeline.records.events import EventSeen
from pipeline.records.jobs import JobRef
from pipeline.records.rows import Row

JOB = JobRef("Job", "ml", "train", "u1")


class Step(NamedTuple):
    state: list | None
    rows: list
    timers: dict


class Toy:
    """`alarm:N` sets timer a at N; `cancel` cancels it; `drop` drops the job; `boom` raises after changing the state."""

    def zero(self, cluster, job, now):
        return [f"zero {job.uid} {now}"]

    def on_record(self, state, record, now):
        word = record.data.reason
        state.append(f"{word} {now}")
        if word == "boom":
            raise ValueError("boom")
        timers = {}
        if word.startswith("alarm:"):
            timers["a"] = int(word[6:])
        if word == "cancel":
            timers["a"] = None
        return Step(None if word == "drop" else state, [row(state, now)], timers)

    def on_timer(self, state, name, now):
        state.append(f"timer {name} {now}")
        return Step(state, [row(state, now)], {})

    def encode(self, state):
        return msgspec.msgpack.encode(state)

    def decode(self, data):
        return msgspec.msgpack.decode(data)


def row(state, now):
    return Row("toy", now, {"seen": list(state)})


def said(word, at=0):
    return EventRecord(
        id=word, source="test", cluster="c", partitionkey="7", observedms=at,
        data=EventSeen(uid="e", version="1", name="e", at_us=0, reason=word),
    )  # fmt: skip


class Machine:
    """A bucket over a dict, with commits and restarts."""

    def __init__(self):
        self.kv = {}
        self.rows = []
        self.start(-1)

    def start(self, now):
        self.bucket = Bucket(Toy(), self.kv, "c", now)
        for key, stored in self.kv.items():
            self.bucket.arm(key, stored.timers)

    def take(self, word, at):
        self.bucket.take("c/u1", JOB, said(word, at), at)

    def commit(self):
        for key, stored in self.bucket.commit():
            if stored is None:
                self.kv.pop(key, None)
            else:
                self.kv[key] = Stored(stored.data, dict(stored.timers))
        self.rows += self.bucket.rows
        self.bucket.rows = []

    def restart(self):
        self.commit()
        self.start(self.bucket.now)

    def state(self):
        self.commit()
        return msgspec.msgpack.decode(self.kv["c/u1"].data)


def test_a_timer_fires_before_the_record_that_made_it_due_with_the_new_now():
    machine = Machine()
    machine.take("alarm:50", 10)
    machine.take("hello", 60)
    assert machine.state() == ["zero u1 10", "alarm:50 10", "timer a 60", "hello 60"]


def test_a_tick_alone_fires_what_is_due_and_nothing_twice():
    machine = Machine()
    machine.take("alarm:50", 10)
    machine.bucket.advance(49)
    machine.bucket.advance(50)
    machine.bucket.advance(51)
    assert machine.state()[2:] == ["timer a 50"]


def test_a_cancelled_or_moved_timer_does_not_fire_at_its_old_time():
    machine = Machine()
    machine.take("alarm:50", 10)
    machine.take("cancel", 20)
    machine.bucket.advance(60)
    machine.take("alarm:100", 70)
    machine.take("alarm:200", 80)
    machine.bucket.advance(150)
    assert not any(seen.startswith("timer") for seen in machine.state())


def test_a_step_that_raises_leaves_the_state_as_it_was_and_is_reported():
    machine = Machine()
    machine.take("one", 1)
    machine.commit()
    machine.take("two", 2)
    machine.take("boom", 3)
    machine.take("three", 4)
    assert machine.state() == ["zero u1 1", "one 1", "two 2", "three 4"]
    assert [str(failure.error) for failure in machine.bucket.failures] == ["boom"]
    assert len(machine.rows) == 3


def test_a_dropped_job_is_removed_and_begins_anew_with_its_next_record():
    machine = Machine()
    machine.take("one", 1)
    machine.take("drop", 2)
    machine.commit()
    assert "c/u1" not in machine.kv
    machine.take("again", 3)
    assert machine.state() == ["zero u1 3", "again 3"]


def test_time_never_goes_back():
    machine = Machine()
    machine.take("late", 100)
    machine.take("early", 40)
    assert machine.state() == ["zero u1 100", "late 100", "early 100"]


WORDS = st.sampled_from(["one", "boom", "drop", "cancel", "alarm:20", "alarm:60", "alarm:90"])


@given(
    st.lists(st.tuples(WORDS | st.just(None), st.integers(0, 40)), max_size=25),
    st.sets(st.integers(0, 25)),
    st.sets(st.integers(0, 25)),
)
def test_the_same_log_gives_the_same_rows_for_any_batches_and_restarts(log, commits, restarts):
    def run(split):
        machine, at = Machine(), 0
        for n, (word, step) in enumerate(log):
            at += step
            if word is None:
                machine.bucket.advance(at)
            else:
                machine.take(word, at)
            if split and n in commits:
                machine.commit()
            if split and n in restarts:
                machine.restart()
        machine.commit()
        return [(row.version, row.values) for row in machine.rows], machine.kv

    assert run(True) == run(False)


@pytest.mark.parametrize("words", [["boom"], ["one", "boom", "boom"], ["drop", "boom", "one"]])
def test_poison_at_any_place_never_escapes(words):
    machine = Machine()
    for n, word in enumerate(words):
        machine.take(word, n)
    machine.commit()
    assert len(machine.bucket.failures) == words.count("boom")


def test_of_a_dropped_job_nothing_stays_in_memory():
    machine = Machine()
    machine.take("alarm:50", 10)
    machine.commit()
    assert machine.bucket.open_states() == 1
    machine.take("drop", 20)
    machine.commit()
    assert machine.bucket.open_states() == 0
    machine.bucket.advance(60)  # the timer that it had set and never took back
    machine.commit()
    assert machine.bucket.open_states() == 0
