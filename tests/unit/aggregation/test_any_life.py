"""Properties that hold of any life of a job, checked against a second judge that shares no code with the product."""

from collections import defaultdict

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aggregation import topology
from aggregation.attribution import leading
from pipeline.records import rows as rows_of
from pipeline.records.envelope import EventRecord
from tests.support import replayed
from tests.support.judge import Judge
from tests.support.lives import lives
from tests.support.replayed import Logged
from tests.support.story import CLUSTER, told

FEW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
OPTIONS = topology.Options(default_waiting_ms=30_000)
MOVING = {
    "as_of", "sla", "wait_ms", "ms", "leading_share", "overrun_ms", "estimated_ms", "gap_ms",
    "nodes", "total_nodes", "message", "also", "evidence",
}  # fmt: skip
"""Columns of an open row that are as old as its last refresh."""
LEADING = {"leading_reason", "leading_detail", "leading_resource", "reason", "resource", "fingerprint"}


NAMES = ("rows", "fold", "at_risk", "deadline", "refresh", "assume", "drop", "nonsense")


def rows_in_one_pass(log, cut=lambda place: False, noise=lambda: ()):
    """All rows in order; where `cut` says so the state goes through its stored form; `noise`: timers out of turn."""
    operator = topology.JobOperator(OPTIONS)
    state, timers, rows = None, {}, []

    def apply(step):
        rows.extend(step.rows)
        for name, due in step.timers.items():
            timers.pop(name, None)
            if due is not None:
                timers[name] = due
        return step.state

    for place, (stamp, record) in enumerate(log):
        for due, name in sorted((due, name) for name, due in timers.items() if due <= stamp):
            if timers.get(name) == due and state is not None:
                del timers[name]
                state = apply(operator.on_timer(state, name, stamp))
        if record is not None:
            state = operator.zero(CLUSTER, record.data.job, stamp) if state is None else state
            state = apply(operator.on_record(state, record, stamp))
        for name in noise():
            state = None if state is None else apply(operator.on_timer(state, name, stamp))
        if cut(place) and state is not None:
            state = operator.decode(operator.encode(state))
    return rows


def ended(story):
    """The log with time enough at its end for all that is due."""
    return [*story.log, Logged(story.now, None), Logged(story.now + 2000, None)]


@FEW
@given(lives(steps=30))
def test_the_leading_reason_and_the_waits_are_those_of_the_second_judge(story):
    operator, judge = topology.JobOperator(OPTIONS), Judge(story.job)
    state = None
    for stamp, record in story.log:
        if record is None:
            continue
        state = operator.on_record(state or operator.zero(CLUSTER, story.job, stamp), record, stamp).state
        judge.take(record)
        if state is None:
            assert judge.waits == []
            continue
        waits = [(one.start_ms, one.end_ms, one.phase, one.cause) for one in state.episodes]
        assert waits == [tuple(wait) for wait in judge.waits], f"after {record.id}"
        if state.waiting:
            found = leading.of(state, stamp)
            assert (found.reason, found.detail, found.resource) == judge.leading(), f"after {record.id}"


@FEW
@given(lives(blind=True))
def test_segments_tile_every_wait_to_the_millisecond_and_hours_add_up(story):
    result = told(replayed.judge(ended(story), CLUSTER, OPTIONS))
    hours = defaultdict(int)
    for row in result.judged.tables.get("wait_reason_hour", {}).values():
        hours[row["episode"]] += row["wait_ms"]
    numbers = [wait["episode"] for wait in result.waits]
    assert numbers == list(range(1, len(numbers) + 1))
    assert {row["episode"] for row in result.segments} <= set(numbers)
    for wait in result.waits:
        parts = [row for row in result.segments if row["episode"] == wait["episode"]]
        assert [row["n"] for row in parts] == list(range(1, len(parts) + 1))
        edges = [wait["started_at"], *(row["to_at"] for row in parts)]
        assert [row["from_at"] for row in parts] == edges[:-1]
        if wait["ended_at"] is not None:
            assert edges[-1] == wait["ended_at"]
            assert sum(row["ms"] for row in parts) == wait["wait_ms"] == hours[wait["episode"]]
        else:
            assert edges[-1] is None and parts


@FEW
@given(lives(blind=True), st.randoms())
def test_the_rows_do_not_depend_on_where_states_are_stored_and_read_again(story, random):
    straight = rows_in_one_pass(ended(story))
    assert rows_in_one_pass(ended(story), cut=lambda place: True) == straight
    assert rows_in_one_pass(ended(story), cut=lambda place: random.random() < 0.3) == straight


@FEW
@given(lives(blind=True), st.randoms())
def test_timers_that_fire_out_of_turn_or_twice_change_no_final_row(story, random):
    calm = rows_in_one_pass(ended(story))
    noisy = rows_in_one_pass(ended(story), noise=lambda: random.choices(NAMES, k=3))
    assert without_moving(replayed.standing(noisy)) == without_moving(replayed.standing(calm))


@FEW
@given(lives(), st.randoms())
def test_copies_anywhere_leave_the_final_rows_as_they_are(story, random):
    log = [line for line in ended(story) for _ in range(random.choice((1, 1, 2)))]
    assert final(log) == final(ended(story))


@FEW
@given(lives(name="one"), lives(name="two"), st.randoms())
def test_the_order_of_records_of_different_jobs_does_not_matter(one, two, random):
    end = max(one.now, two.now) + 2000
    apart = {**final([*one.log, Logged(end, None)]), **final([*two.log, Logged(end, None)])}
    assert final([*shuffled(one.log, two.log, random), Logged(end, None)]) == apart


@FEW
@given(lives(blind=True), st.randoms())
def test_how_late_records_arrive_at_the_log_changes_no_wait(story, random):
    log, stamp = [], 0
    for line in story.log:
        stamp = max(stamp, line.stamp + random.choice((0, 0, 5, 700, 4000)))
        log.append(Logged(stamp, line.record))
    end = Logged(stamp + 2000, None)
    late, prompt = final([*log, end]), final([*story.log, end])
    # A violation may be thought open for a while, and is withdrawn then.
    kept = {key: row for key, row in late.items() if row.get("state") != "withdrawn"}
    assert kept == {key: row for key, row in prompt.items() if row.get("state") != "withdrawn"}


def shuffled(one, two, random):
    """Both logs in the order of their stamps, each in its own order; ties fall at random."""
    queues = [list(reversed(one)), list(reversed(two))]
    out = []
    while any(queues):
        first = min(queue[-1].stamp for queue in queues if queue)
        out.append(random.choice([queue for queue in queues if queue and queue[-1].stamp == first]).pop())
    return out


def final(log):
    """Rows as a warehouse holds them in the end, without what moves with log time alone."""
    return without_moving(replayed.judge(log, CLUSTER, OPTIONS).tables)


def without_moving(tables):
    out = {}
    for table in ("job_wait", "wait_segment", "sla_violation"):
        for key, values in tables.get(table, {}).items():
            over = values.get(
                "ended_at" if table == "job_wait" else "to_at" if table == "wait_segment" else "resolved_at"
            )
            moving = {"as_of"} if over is not None else MOVING | LEADING
            out[table, key] = {name: value for name, value in values.items() if name not in moving}
    return out


def test_versions_of_a_key_always_grow():
    @FEW
    @given(lives(blind=True))
    def check(story):
        newest = {}
        for row in rows_in_one_pass(ended(story)):
            key = row.table, rows_of.key_of(row)
            assert row.version > newest.get(key, 0)
            newest[key] = row.version

    check()


def test_the_lives_that_are_drawn_reach_every_kind_of_record():
    seen = set()

    @settings(max_examples=80, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(lives())
    def look(story):
        for record in story.records:
            seen.add("event" if isinstance(record, EventRecord) else getattr(record.data, "change", "decision"))

    look()
    assert seen >= {"added", "modified", "deleted", "facts", "event", "decision"}
