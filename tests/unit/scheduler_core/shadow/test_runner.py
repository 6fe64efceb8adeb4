"""The shadow over a log on disk: restarts, snapshots, and the past."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from pipeline.config import load
from pipeline.errors import NotFound
from pipeline.log import LogOptions, LogReader, LogWriter, Position, layout, readers
from pipeline.log.positions import BEGINNING
from pipeline.records import codec
from pipeline.records.envelope import DecisionRecord, FiguresRecord, Record
from pipeline.records.jobs import JobRef
from scheduler_core import plugins, tiers
from scheduler_core.cache.mirror import Mirror
from scheduler_core.shadow import runner as running
from scheduler_core.shadow import snapshots, travel
from scheduler_core.shadow.figures import Book
from scheduler_core.shadow.machine import Machine
from scheduler_core.shadow.runner import Runner
from scheduler_core.shadow.volcano import Volcano
from tests.support.object_records import JOB, deleted, group, node, pod, queue

BEGIN = 1_767_225_600_000
OPTIONS = LogOptions(cluster="c", min_free_bytes=0)


def at(record: Record, ms: int) -> Record:
    return msgspec.structs.replace(record, observedms=BEGIN + ms)


def lone() -> Record:
    """A pod of no gang, which is its own job."""
    made = pod("lone", notes={"a": "b"})
    made.data.job = JobRef("Pod", "ml", "lone", "lone")
    return made


def story() -> list[tuple[int, Record | None]]:
    """Half an hour in which a gang waits, another comes and goes, and nodes come; None only lets time pass."""
    asking = [{"name": "main", "resources": {"requests": {"cpu": "6"}}}]
    told = [
        (100, node()), (100, queue()), (200, group(phase="Inqueue")),
        *((300, pod(f"p-{n}", containers=asking)) for n in (1, 2)),
        (20_000, node("n-2", "n2", unschedulable=True)), (40_000, lone()),
        (61_000, deleted("Pod", "lone")), (500_000, node("n-2", "n2")),
        (500_400, pod("p-1", node="n1", containers=asking, change="modified")),
        (500_450, pod("p-2", node="n2", containers=asking, change="modified")),
        (900_000, deleted("Pod", "p-2")), (900_000, pod("p-3", containers=asking)), (901_000, deleted("Node", "n-2")),
    ]  # fmt: skip
    return [*told, *((ms, None) for ms in range(1000, 1_850_000, 1000))]


@pytest.fixture
def writer(tmp_path: Path):
    with LogWriter(tmp_path / "spool" / "records", options=OPTIONS) as made:
        yield made


def tell(writer: LogWriter, until_ms: int = 10**9, since_ms: int = -1) -> None:
    """Writes a part of the story."""
    for ms, record in sorted(story(), key=lambda each: each[0]):
        if since_ms < ms <= until_ms:
            if record is None:
                writer.tick(BEGIN + ms)
            else:
                writer.put([at(record, ms)])
    writer.sync()


def machine() -> Machine:
    return Machine(Mirror("c"), [Volcano(tiers.default(plugins.ALL), plugins.ALL)], "default")


def shadow(tmp_path: Path, writer: LogWriter, append=None) -> Runner:
    def put(records: Sequence[Record]) -> None:
        writer.put(records)
        writer.sync()

    return Runner(machine(), writer.directory, tmp_path / "scheduler", append or put)


def run(runner: Runner, turns: int = 1000, budget_s: float = 100.0) -> int:
    """Turns until the log has nothing new; how many sessions opened."""
    with runner:
        found = 0
        for _ in range(turns):
            turn = runner.turn(budget_s)
            found += turn.sessions
            if not turn.moved:
                break
        return found


def decisions(writer: LogWriter) -> list[DecisionRecord]:
    with LogReader(writer.directory, "test", start=BEGINNING) as reader:
        found = []
        while (batch := reader.read()).entries:
            found += [
                record for entry in batch.entries if isinstance(record := codec.decode(entry.line), DecisionRecord)
            ]
        return found


def kinds(found: list[DecisionRecord]) -> list[tuple[str, int, str | None]]:
    return [
        (each.data.kind, each.data.session_ms - BEGIN, each.data.reason) for each in found if each.data.kind != "close"
    ]


def test_decisions_are_in_the_log_soon_after_what_they_are_about(tmp_path, writer):
    tell(writer)
    assert run(shadow(tmp_path, writer)) > 5
    found = kinds(decisions(writer))
    assert ("attribution", 3000, "quota") in found
    assert ("attribution", 41_000, "gang_incomplete") in found
    assert ("discard", 62_000, None) in found


def test_a_second_pass_over_the_log_adds_nothing(tmp_path, writer):
    tell(writer)
    run(shadow(tmp_path, writer))
    before = decisions(writer)
    assert run(shadow(tmp_path, writer)) == 0
    assert decisions(writer) == before


@pytest.mark.parametrize("stop_ms", [3500, 20_500, 61_500, 500_420, 900_500, 1_000_000])
def test_a_restart_at_any_moment_gives_the_same_decisions(tmp_path, stop_ms):
    straight, stopped = tmp_path / "straight", tmp_path / "stopped"
    with LogWriter(straight / "records", options=OPTIONS) as writer:
        tell(writer)
        run(shadow(straight, writer))
        wanted = decisions(writer)
    with LogWriter(stopped / "records", options=OPTIONS) as writer:
        tell(writer, stop_ms)
        run(shadow(stopped, writer))
        tell(writer, since_ms=stop_ms)
        run(shadow(stopped, writer))
        assert [each.id for each in decisions(writer)] == [each.id for each in wanted]
        assert [each.data for each in decisions(writer)] == [each.data for each in wanted]


def test_a_session_whose_close_was_lost_opens_again_and_writes_the_same(tmp_path, writer):
    tell(writer, 30_000)
    kept: list[Record] = []

    def lossy(records: Sequence[Record]) -> None:
        kept.extend(records)
        part = [each for each in records if each.data.kind != "close"]
        writer.put(part)
        writer.sync()

    run(shadow(tmp_path, writer, lossy))
    assert run(shadow(tmp_path, writer)) > 0
    assert {each.id for each in decisions(writer)} == {each.id for each in kept}
    assert all(one.data == other.data for one in decisions(writer) for other in kept if one.id == other.id)


def test_a_snapshot_comes_every_ten_minutes_and_lets_the_log_before_it_go(tmp_path, writer):
    tell(writer)
    run(shadow(tmp_path, writer))
    found = snapshots.usable(tmp_path / "scheduler", writer.directory)
    assert len(found) == 2
    assert found[1].stamp - found[0].stamp >= snapshots.EVERY_MS
    assert readers.read(writer.directory, running.READER, Position) == found[1].position


def test_a_log_that_fills_up_in_less_than_ten_minutes_is_never_held_at_its_limit(tmp_path):
    options = LogOptions(cluster="c", min_free_bytes=0, segment_bytes=100_000, max_bytes=1_000_000, keep_s=0)
    with LogWriter(tmp_path / "spool" / "records", options=options) as writer, shadow(tmp_path, writer) as runner:
        for second in range(1, 600):
            writer.put([at(node(taints=[{"key": "x" * 3000, "value": str(second)}]), second * 1000)])
            writer.sync()
            while runner.turn(100.0).moved:
                pass
        assert min(layout.numbers(writer.directory)) > 1


def test_it_goes_on_from_the_last_snapshot(tmp_path, writer):
    tell(writer)
    run(shadow(tmp_path, writer))
    again = shadow(tmp_path, writer)
    newest = snapshots.usable(tmp_path / "scheduler", writer.directory)[-1]
    assert again.reader.position == newest.position
    assert again.machine.mirror.counts()["pods"] == 2


def test_a_snapshot_that_cannot_be_read_is_passed_over(tmp_path, writer):
    tell(writer)
    run(shadow(tmp_path, writer))
    found = snapshots.usable(tmp_path / "scheduler", writer.directory)
    found[-1].path.write_bytes(b"not a snapshot")
    assert shadow(tmp_path, writer).reader.position == found[0].position
    found[0].path.unlink()
    assert shadow(tmp_path, writer).reader.position == BEGINNING


def test_snapshots_of_another_log_are_not_used_and_those_it_has_outlived_go(tmp_path):
    folder, log = tmp_path / "scheduler", tmp_path / "records"
    log.mkdir()
    snapshots.write(folder, 1000, Position(1, 10), b"old")
    snapshots.write(folder, 2000, Position(3, 4), b"fits")
    snapshots.write(folder, 3000, Position(3, 5000), b"behind its end")
    snapshots.write(folder, 4000, Position(9, 0), b"of a log that is gone")
    (log / "0000000003.ndjson").write_bytes(b"x" * 100)
    assert [each.read() for each in snapshots.usable(folder, log)] == [b"fits"]
    snapshots.prune(folder, log)
    assert [path.name[:15] for path in sorted(folder.iterdir())] == [
        "000000000002000",
        "000000000003000",
        "000000000004000",
    ]


def test_seconds_there_is_no_time_for_are_passed_over_and_counted(tmp_path, writer):
    tell(writer, 45_000)
    with shadow(tmp_path, writer) as runner:
        turn = runner.turn(budget_s=0.0)
        assert (turn.sessions, turn.moved) == (0, True)
        assert turn.skipped > 30
        tell(writer, 46_000, since_ms=45_000)
        assert runner.turn().sessions == 1
    assert ("attribution", 46_000, "insufficient_resource") in kinds(decisions(writer))


def test_who_is_behind_for_too_long_goes_to_the_end_without_sessions_and_decides_on_what_is_so_now(
    tmp_path, writer, monkeypatch
):
    now_s = [0.0]
    monkeypatch.setattr(running.clock, "monotonic_s", lambda: now_s[0])
    monkeypatch.setattr(running, "BATCH", 50)
    for second in range(1, 400):
        made = pod(f"p-{second}", containers=[{"name": "main", "resources": {"requests": {"cpu": "60"}}}])
        writer.put([at(made, second * 1000)])
        writer.tick(BEGIN + second * 1000)
    writer.sync()
    with shadow(tmp_path, writer) as runner:
        turns = []
        while not turns or turns[-1].behind:
            turns.append(runner.turn(100.0, patience_s=10.0))
            now_s[0] += 4.0
        patient, late = turns[:3], turns[3:-1]
        assert all(each.sessions and not each.skipped for each in patient)
        assert sum(each.skipped for each in late) > 50
        assert not any(each.sessions for each in late)
        writer.tick(BEGIN + 401_000)
        writer.sync()
        assert runner.turn(100.0, patience_s=10.0).sessions == 1
    assert [each.data.kind for each in decisions(writer) if each.data.session_ms == BEGIN + 400_000] == ["close"]
    assert runner.machine.session_ms == BEGIN + 400_000


def test_records_that_are_behind_log_time_are_told_until_it_is_reached_again(tmp_path, writer):
    with shadow(tmp_path, writer) as runner:
        aheads = []
        for ms in (1000, 86_400_000, 5000, 40_000_000, 86_390_000):
            writer.put([at(node("n-1", "n1", unschedulable=ms % 7 == 0), ms)])
            writer.sync()
            aheads.append(runner.turn().ahead_ms)
    assert aheads == [0, 0, 86_395_000, 46_400_000, 0]


def test_a_log_that_takes_nothing_loses_no_decision(tmp_path, writer):
    tell(writer, 30_000)
    full = [True]

    def append(records: Sequence[Record]) -> None:
        if full[0]:
            raise OSError("full")
        writer.put(records)
        writer.sync()

    with shadow(tmp_path, writer, append) as runner:
        with pytest.raises(OSError, match="full"):
            runner.turn()
        full[0] = False
        while runner.turn().moved:
            pass
    assert ("attribution", 3000, "quota") in kinds(decisions(writer))


def test_a_session_that_fails_is_counted_and_the_next_one_opens(tmp_path, writer, caplog):
    tell(writer, 30_000)
    calls = []

    def broken(mirror: Mirror, session_ms: int) -> list:
        calls.append(session_ms)
        raise RuntimeError("a plug-in's fault")

    made = Machine(Mirror("c"), [broken], "default")
    run(Runner(made, writer.directory, tmp_path / "scheduler", writer.put))
    assert len(calls) > 1
    assert decisions(writer) == []


def test_figures_are_in_the_log_by_the_minute_and_a_restart_adds_none(tmp_path):
    def told(folder, stops):
        with LogWriter(folder / "records", options=OPTIONS) as writer:
            since_ms = -1
            for stop_ms in stops:
                tell(writer, stop_ms, since_ms)
                since_ms = stop_ms
                volcano = Volcano(tiers.default(plugins.ALL), plugins.ALL)
                made = Machine(Mirror("c"), [volcano], "default", Book(volcano, ()))
                run(
                    Runner(made, writer.directory, folder / "scheduler", lambda each: (writer.put(each), writer.sync()))
                )
            with LogReader(writer.directory, "test", start=BEGINNING) as reader:
                lines = []
                while (batch := reader.read()).entries:
                    lines += [codec.decode(entry.line) for entry in batch.entries]
            return [each for each in lines if isinstance(each, FiguresRecord)]

    straight = told(tmp_path / "straight", (10**9,))
    nodes = {
        (each.data.minute_ms - BEGIN, row.node, row.cpus_free_milli) for each in straight for row in each.data.nodes
    }
    assert nodes == {
        (0, "n1", 8000), (60_000, "n2", 8000), (540_000, "n1", 2000), (540_000, "n2", 2000), (960_000, "n2", 0)
    }  # fmt: skip
    stopped = told(tmp_path / "stopped", (59_500, 60_500, 700_000, 10**9))
    assert stopped == straight


# --- the past -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def loaded(tmp_path, writer):
    tell(writer)
    run(shadow(tmp_path, writer))
    return load.load([], {}, {"data_dir": str(tmp_path), "cluster.name": "c"})


def test_the_past_is_explained_as_it_was_decided_then(loaded):
    found = travel.explain(loaded, "c", JOB, BEGIN + 30_000)
    assert ("attribution", None, "insufficient_resource") in [(each.kind, each.task, each.reason) for each in found]
    assert travel.explain(loaded, "c", JOB, BEGIN + 700_000) == []
    late = travel.explain(loaded, "c", JOB, BEGIN + 1_200_000)
    assert [(each.kind, each.reason) for each in late if each.task is None] == [("attribution", "quota")]


def test_a_snapshot_and_the_whole_log_tell_the_same_of_the_past(loaded, tmp_path):
    moments = [BEGIN + ms for ms in (30_000, 500_420, 650_000, 900_500, 1_240_000)]
    near = [travel.decisions_at(loaded, "c", moment) for moment in moments]
    for path in (tmp_path / "scheduler").iterdir():
        path.unlink()
    assert [travel.decisions_at(loaded, "c", moment) for moment in moments] == near


def test_a_job_is_found_by_its_name_where_its_uid_was_another(loaded):
    placeholder = JobRef("PodGroup", "ml", "train", "name:ml/train", "scheduling.volcano.sh")
    assert travel.explain(loaded, "c", placeholder, BEGIN + 30_000)
    assert travel.explain(loaded, "c", JobRef("Job", "ml", "other", "x"), BEGIN + 30_000) == []


def test_before_the_log_begins_nothing_can_be_told(loaded, tmp_path):
    with pytest.raises(NotFound, match="does not reach back"):
        travel.explain(loaded, "c", JOB, BEGIN - 60_000)
    nowhere = load.load([], {}, {"data_dir": str(tmp_path / "empty")})
    with pytest.raises(NotFound, match="no log"):
        travel.explain(nowhere, "c", JOB, BEGIN)
    with pytest.raises(NotFound, match="no log"):
        travel.end_ms(nowhere)


def test_the_end_and_the_cluster_of_a_log_are_known(loaded):
    assert travel.end_ms(loaded) == BEGIN + 1_849_000
    assert travel.cluster_of(loaded) == "c"


def test_a_number_that_nothing_can_hold_ends_neither_the_turns_nor_the_snapshots(tmp_path, writer):
    writer.put([at(queue("odd", weight=10**30), 50)])
    tell(writer)
    run(shadow(tmp_path, writer))
    assert len(snapshots.usable(tmp_path / "scheduler", writer.directory)) >= 2


def test_half_a_log_without_a_snapshot_is_not_taken_for_the_whole_cluster(tmp_path):
    records = tmp_path / "spool" / "records"
    with LogWriter(records, options=LogOptions(cluster="c", min_free_bytes=0, segment_bytes=100_000)) as writer:
        for second in range(100):
            writer.put([at(node(taints=[{"key": "x" * 3000, "value": str(second)}]), second * 1000)])
            writer.sync()
    for path in records.glob(f"{layout.numbers(records)[0]:010d}.*"):
        path.unlink()
    halved = load.load([], {}, {"data_dir": str(tmp_path)})
    with pytest.raises(NotFound, match="beginning of the log is gone"):
        travel.explain(halved, "c", JOB, BEGIN + 99_000)
