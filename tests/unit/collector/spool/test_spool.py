"""Records first, then the checkpoint: in order, in one piece, for one process, for one cluster."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from collector.kinds.known import KnownChanges, KnownObject
from collector.spool import checkpoint
from collector.spool.checkpoint import Checkpoint, OpenGap, Watch
from collector.spool.spool import Spool
from pipeline.config.places import Places
from pipeline.errors import Transient, UserError
from pipeline.log import LogFull, LogOptions, LogReader, layout
from pipeline.records import codec
from pipeline.records.envelope import ObjectRecord
from pipeline.records.jobs import JobRef
from pipeline.records.objects import ObjectChange
from pipeline.telemetry import catalogue

OPTIONS = LogOptions(cluster="c1", min_free_bytes=0)


def record(number: int) -> ObjectRecord:
    return ObjectRecord(
        id=f"c1/u{number}/{number}/added",
        source="kube",
        cluster="c1",
        partitionkey="7",
        observedms=1000 + number,
        data=ObjectChange(change="added", kind="Pod", name=f"p{number}", uid=f"u{number}", version=str(number)),
    )


def known(number: int, **changes: object) -> KnownObject:
    job = JobRef("Job", "team", "train", "j1", "batch")
    fields = {"key": "pods", "uid": f"u{number}", "version": str(number), "namespace": "team", "name": f"p{number}"}
    return KnownObject(**(fields | {"job": job, "digest": b"\x00\xff", "facts": "f1"} | changes))


def upsert(*objects: KnownObject) -> KnownChanges:
    return KnownChanges(list(objects), [])


def in_log(places: Places) -> list[object]:
    with LogReader(places.records, "test") as reader:
        return [codec.decode(entry.line) for entry in reader.read().entries]


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def test_a_commit_makes_records_durable_and_moves_the_checkpoint(places: Places) -> None:
    with Spool(places, options=OPTIONS) as spool:
        spool.write([record(1), record(2)])
        assert in_log(places) == []
        spool.commit(upsert(known(1), known(2)), [Watch("pods", "2", 5000)])
        assert in_log(places) == [record(1), record(2)]
    with Spool(places, options=OPTIONS) as spool:
        assert spool.versions() == {"pods": "2"}
        assert spool.checkpoint.load().watches == {"pods": Watch("pods", "2", 5000)}
        assert sorted(spool.checkpoint.known(), key=lambda each: each.uid) == [known(1), known(2)]


def test_when_the_log_cannot_be_synced_the_checkpoint_stays_and_the_commit_can_be_made_again(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise LogFull("full")

    with Spool(places, options=OPTIONS) as spool:
        spool.write([record(1)])
        monkeypatch.setattr(spool.log, "sync", full)
        with pytest.raises(LogFull):
            spool.commit(upsert(known(1)), [Watch("pods", "1", 5000)])
        assert spool.versions() == {}
        assert list(spool.checkpoint.known()) == []
        monkeypatch.undo()
        spool.commit(upsert(known(1)), [Watch("pods", "1", 5000)])
        assert spool.versions() == {"pods": "1"}
    assert in_log(places) == [record(1)]


def test_what_the_log_holds_behind_the_checkpoint_is_its_tail(places: Places) -> None:
    with Spool(places, options=OPTIONS) as spool:
        assert list(spool.tail()) == []
        spool.write([record(1)])
        spool.commit(upsert(known(1)))
        spool.write([record(2)])
        spool.tick(9000)
        spool.commit()  # makes durable, says nothing of how far the watches have come
        spool.write([record(3)])
    with Spool(places, options=OPTIONS) as spool:
        assert list(spool.tail()) == [record(2), record(3)]
        spool.commit(upsert(known(3)))
        assert list(spool.tail()) == []


def test_the_first_records_of_a_spool_are_behind_its_checkpoint_until_one_is_made(places: Places) -> None:
    with Spool(places, options=OPTIONS) as spool:
        spool.write([record(1)])
    with Spool(places, options=OPTIONS) as spool:
        assert list(spool.tail()) == [record(1)]


def test_the_tail_of_a_cluster_is_its_own_and_begins_with_its_first_start(places: Places) -> None:
    with Spool(places, options=OPTIONS) as spool:
        spool.write([record(1)])
    with Spool(places, options=LogOptions(cluster="c1@replay", min_free_bytes=0)) as spool:
        assert list(spool.tail()) == []
        spool.write([record(2)])
        assert list(spool.tail()) == []


@pytest.mark.parametrize("lose", [Path.unlink, lambda path: path.write_bytes(b"")], ids=["removed", "emptied"])
def test_without_a_checkpoint_what_was_known_is_read_from_the_log(places: Places, lose, caplog) -> None:
    with Spool(places, options=OPTIONS) as spool:
        spool.write([record(1)])
    lose(places.collector_db)
    with Spool(places, options=OPTIONS) as spool:
        assert list(spool.tail()) == [record(1)]
    assert "checkpoint_lost" in caplog.text


def test_a_second_cluster_in_a_spool_begins_at_the_end_of_its_log(places: Places, caplog) -> None:
    with Spool(places, options=OPTIONS) as spool:
        spool.write([record(1)])
    with Spool(places, options=LogOptions(cluster="other", min_free_bytes=0)) as spool:
        assert spool.checkpoint.load().position == spool.log.sync()
    assert "checkpoint_lost" not in caplog.text


def test_a_checkpoint_that_is_ahead_of_an_older_copy_of_the_log_takes_nothing_of_it_for_news(
    places: Places, caplog
) -> None:
    with Spool(places, options=OPTIONS) as spool:
        spool.write([record(1)])
        spool.log.sync()
        older = layout.data_path(places.records, 1).read_bytes()
        spool.write([record(2)])
        spool.commit(watches=[Watch("pods", "2", 5)])
    layout.data_path(places.records, 1).write_bytes(older)
    with Spool(places, options=OPTIONS) as spool:
        assert list(spool.tail()) == []
        assert spool.versions() == {"pods": "2"}
    assert "checkpoint_ahead_of_log" in caplog.text


def test_a_torn_tail_is_cut_and_counted_when_the_spool_opens(places: Places) -> None:
    with Spool(places, options=OPTIONS) as spool:
        spool.write([record(1)])
        spool.commit()
    with layout.data_path(places.records, 1).open("ab") as file:
        file.write(b'{"half":')
    counted = catalogue.spool_dropped.labels("records", "torn")
    before = counted._value.get()
    with Spool(places, options=OPTIONS) as spool:
        assert spool.log.recovery.cut_bytes == 8
    assert counted._value.get() == before + 1
    assert in_log(places) == [record(1)]


def test_changes_of_known_objects_replace_and_remove(places: Places) -> None:
    with Spool(places, options=OPTIONS) as spool:
        spool.commit(upsert(known(1), known(2), known(1, key="jobs.batch")))
        spool.commit(KnownChanges([known(2, version="9", job=None, digest=None)], [("pods", "u1"), ("pods", "never")]))
        left = sorted(spool.checkpoint.known(), key=lambda each: each.key)
        assert left == [known(1, key="jobs.batch"), known(2, version="9", job=None, digest=None)]


def test_an_object_deleted_and_made_again_in_one_commit_is_known(places: Places) -> None:
    with Spool(places, options=OPTIONS) as spool:
        spool.commit(upsert(known(1)))
        spool.commit(KnownChanges([known(1, version="5")], [("pods", "u1")]))
        assert list(spool.checkpoint.known()) == [known(1, version="5")]


def test_open_gaps_survive_a_restart_until_they_are_closed(places: Places) -> None:
    gap = OpenGap("pods", 4000, "17", "expired")
    with Spool(places, options=OPTIONS) as spool:
        spool.commit(opened=[gap, OpenGap("nodes", None, None, "restart")])
    with Spool(places, options=OPTIONS) as spool:
        assert spool.checkpoint.load().gaps["pods"] == gap
        spool.commit(closed=["nodes"])
        assert list(spool.checkpoint.load().gaps) == ["pods"]


def test_a_second_collector_on_the_spool_is_refused(places: Places) -> None:
    with Spool(places, options=OPTIONS), pytest.raises(UserError, match="the spool is in use by process"):
        Spool(places, options=OPTIONS)
    Spool(places, options=OPTIONS).close()


def test_a_name_that_another_cluster_took_is_refused(places: Places) -> None:
    with Spool(places, options=OPTIONS) as spool:
        spool.checkpoint.claim("uid-a")
        spool.checkpoint.claim("uid-a")
    with Spool(places, options=OPTIONS) as spool, pytest.raises(UserError, match="'c1' belongs to another cluster"):
        spool.checkpoint.claim("uid-b")


def test_clusters_in_one_spool_do_not_mix(places: Places) -> None:
    replay = LogOptions(cluster="c1@replay", min_free_bytes=0)
    with Spool(places, options=OPTIONS) as spool:
        spool.checkpoint.claim("uid-a")
        spool.commit(upsert(known(1)), [Watch("pods", "1", 1)])
    with Spool(places, options=replay) as spool:
        spool.checkpoint.claim("uid-b")
        assert spool.versions() == {}
        assert list(spool.checkpoint.known()) == []


def test_a_commit_that_fails_half_way_changes_nothing(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(known: KnownObject) -> tuple[str, ...]:
        raise RuntimeError("half way")

    with Spool(places, options=OPTIONS) as spool:
        spool.commit(upsert(known(1)), [Watch("pods", "1", 1)])
        monkeypatch.setattr(checkpoint, "_columns", broken)
        with pytest.raises(RuntimeError, match="half way"):
            spool.commit(KnownChanges([known(2)], [("pods", "u1")]))
        monkeypatch.undo()
        assert list(spool.checkpoint.known()) == [known(1)]
        spool.commit(upsert(known(3)))
        assert len(list(spool.checkpoint.known())) == 2


def test_a_checkpoint_of_a_newer_version_is_refused_and_the_log_stays_free(places: Places) -> None:
    Spool(places, options=OPTIONS).close()
    with sqlite3.connect(places.collector_db) as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    with pytest.raises(UserError, match="newer version"):
        Spool(places, options=OPTIONS)
    places.collector_db.unlink()
    Spool(places, options=OPTIONS).close()


def test_a_checkpoint_that_is_no_database_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "collector.db"
    path.write_bytes(b"not a database, but long enough to be taken for one" * 20)
    with pytest.raises(UserError, match="cannot be read") as raised:
        Checkpoint(path, "c1")
    assert "Move the file away" in str(raised.value)


def test_a_full_disk_under_the_checkpoint_passes(places: Places) -> None:
    with Spool(places, options=OPTIONS) as spool:
        spool.commit(upsert(known(1)))
        spool.checkpoint._db.execute("PRAGMA max_page_count=1")
        pages = spool.checkpoint._db.execute("PRAGMA page_count").fetchone()[0]
        spool.checkpoint._db.execute(f"PRAGMA max_page_count={pages}")
        big = upsert(*(known(number, name="n" * 500) for number in range(200)))
        with pytest.raises(LogFull, match="no space for the checkpoint"):
            spool.commit(big)
        spool.checkpoint._db.execute("PRAGMA max_page_count=100000")
        spool.commit(big)
        assert len(list(spool.checkpoint.known())) == 200


def test_a_checkpoint_that_another_program_holds_may_be_tried_again(places: Places) -> None:
    with Spool(places, options=OPTIONS) as spool, closing(sqlite3.connect(places.collector_db)) as other:
        spool.checkpoint._db.execute("PRAGMA busy_timeout=0")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Transient, match="locked"):
            spool.commit(watches=[Watch("pods", "1", 1)])
        other.execute("ROLLBACK")
        spool.commit(watches=[Watch("pods", "1", 1)])
        assert spool.versions() == {"pods": "1"}


@pytest.mark.parametrize("begin", range(0, 20_000, 4096))
def test_a_checkpoint_with_a_damaged_page_is_whole_or_says_what_to_do(places: Places, begin: int) -> None:
    saved = [known(number) for number in range(100)]
    with Spool(places, options=OPTIONS) as spool:
        spool.commit(upsert(*saved))
    data = bytearray(places.collector_db.read_bytes())
    data[begin : begin + 4096] = b"\x55" * len(data[begin : begin + 4096])
    places.collector_db.write_bytes(data)
    try:
        with Spool(places, options=OPTIONS) as spool:
            spool.checkpoint.load()
            assert len(list(spool.checkpoint.known())) == 100
    except UserError as error:
        assert "Move the file away" in str(error)


def test_a_folder_that_cannot_be_made_is_told_as_everywhere(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(UserError, match="the data folder cannot be used: Not a directory") as caught:
        Spool(Places(tmp_path / "taken"), options=OPTIONS)
    assert caught.value.fix is not None and "--set data_dir=PATH" in caught.value.fix
