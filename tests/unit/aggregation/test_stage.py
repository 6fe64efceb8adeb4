"""The stage on a disk that refuses: it waits, says so, and in the end has written what it would have written."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from aggregation import app
from aggregation.app import Aggregation
from aggregation.runners import embedded
from aggregation.runners.store import StateStore
from aggregation.settings import Settings
from pipeline.config.places import Places
from pipeline.errors import UserError
from pipeline.log import LogFull, LogOptions, LogReader, LogWriter, layout
from pipeline.log.outbox import OutboxReader
from pipeline.process import deaths
from pipeline.records import codec
from pipeline.records.rows import sequence
from tests.support import replayed
from tests.support.cluster import poll

RECORDING = Path(__file__).parents[3] / "examples" / "kube-a"
CLUSTER = "kube-a@replay"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a log in it that nobody has read."""
    folder = tmp_path_factory.mktemp("log")
    options = LogOptions(cluster=CLUSTER, min_free_bytes=0)
    with LogWriter(Places(folder).records, options=options) as writer:
        for stamp, record in replayed.log_of(RECORDING):
            if record is None:
                writer.tick(stamp)
            else:
                writer.append([codec.encode(record)], [record.observedms])
    return folder


@pytest.fixture
def data(log: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    return Path(shutil.copytree(log, tmp_path / "data"))


@contextmanager
def running(data: Path) -> Iterator[Aggregation]:
    stage = Aggregation(Settings(batch_records=200), Places(data), CLUSTER)
    stage.start()
    try:
        yield stage
    finally:
        stage.stop(120)


def rows(data: Path) -> dict[str, dict[Any, dict[str, Any]]]:
    """What the outbox leaves standing."""
    reader = OutboxReader(Places(data).aggregation_db, "test")
    items = reader.read(0, 10**9, 10**12)
    reader.close()
    return replayed.standing([row for item in items for row in item.rows])


@pytest.fixture(scope="module")
def straight(log: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = Path(shutil.copytree(log, tmp_path_factory.mktemp("straight") / "data"))
    with running(folder):
        pass
    found = rows(folder)
    assert len(found["job_wait"]) > 50
    return found


def refuse(method: Callable[..., Any], times: tuple[int, ...], seen: threading.Event) -> Callable[..., Any]:
    """The method, which finds the disk full at the calls of these numbers, and from the first on until that was seen."""
    calls = iter(range(1, 10**6))

    def called(*arguments: Any, **more: Any) -> Any:
        number = next(calls)
        if number in times or (number > times[0] and not seen.is_set()):
            raise LogFull("no space")
        return method(*arguments, **more)

    return called


@pytest.mark.parametrize(
    ("kind", "name", "times"),
    [(StateStore, "commit", (2, 5, 6)), (LogReader, "ack", (2, 5, 6)), (StateStore, "progress", (1, 2))],
)
def test_a_full_disk_is_waited_for_and_costs_nothing(
    kind: type, name: str, times: tuple[int, ...], data: Path, straight: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_RETRY_S", 0.2)
    seen = threading.Event()
    monkeypatch.setattr(kind, name, refuse(getattr(kind, name), times, seen))
    with running(data) as stage:
        poll("it says that it is blocked", lambda: "no space" in [check.detail for check in stage.checks()])
        seen.set()
        poll("it goes on", lambda: stage.checks()[1].ok)
    monkeypatch.undo()
    with running(data):  # what a stage that is stopped while it is blocked leaves, the next one reads
        pass
    assert rows(data) == straight


def test_a_state_that_is_gone_is_made_again_from_the_whole_log(data: Path, straight: dict[str, Any]) -> None:
    with running(data):
        pass
    for path in Places(data).aggregation_db.parent.glob("aggregation.db*"):
        path.unlink()
    with running(data):
        pass
    assert rows(data) == straight


def test_a_lost_state_is_told_and_its_rows_are_not_older_than_those_of_the_last_rebuild(
    data: Path, straight: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    with running(data):
        pass
    with closing(StateStore(Places(data).aggregation_db)) as state:
        assert embedded.rebuild(state).generation == 2
    for path in Places(data).aggregation_db.parent.glob("aggregation.db*"):
        path.unlink()
    assert "state_lost" not in caplog.text
    with running(data):
        pass
    assert "state_lost" in caplog.text
    with closing(OutboxReader(Places(data).aggregation_db, "test")) as reader:
        written = [row for item in reader.read(0, 10**9, 10**12) for row in item.rows]
    assert min(row.version for row in written if row.table in straight) >= sequence(2, 0)
    assert rows(data) == straight


def test_a_state_that_is_ahead_of_an_older_copy_of_the_log_is_made_again(
    data: Path, straight: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    segment = layout.data_path(Places(data).records, 1)
    lines = segment.read_bytes().splitlines(keepends=True)
    with running(data):
        pass
    layout.index_path(Places(data).records, 1).unlink()
    segment.write_bytes(b"".join(lines[:1000]))
    with running(data):
        pass
    assert "state_ahead_of_log" in caplog.text
    with LogWriter(Places(data).records, options=LogOptions(cluster=CLUSTER, min_free_bytes=0)) as writer:
        rest = [line.rstrip(b"\n") for line in lines[1000:]]
        writer.append(rest, [codec.decode(line).observedms for line in rest])
    with running(data):
        pass
    assert rows(data) == straight


@pytest.mark.parametrize("how", ["damaged", "newer", "held"])
def test_a_state_that_cannot_be_used_says_what_to_do(data: Path, how: str) -> None:
    path = Places(data).aggregation_db
    path.parent.mkdir(parents=True)
    if how == "damaged":
        path.write_bytes(b"no database" * 1000)
    elif how == "newer":
        with closing(sqlite3.connect(path)) as db:
            db.execute("pragma user_version=9")
    said: list[BaseException] = []
    with deaths.watched(lambda _, error: said.append(error)):
        if how == "held":
            with running(data), pytest.raises(UserError) as refused, running(data):
                pass
            said.append(refused.value)
        else:
            with running(data):
                poll("it ends", lambda: said)
    (error,) = said
    assert isinstance(error, UserError)
    assert {"damaged": "is damaged", "newer": "newer version (form 9", "held": "in use by process"}[how] in error.what
    assert error.fix


def test_segments_that_were_removed_by_hand_are_told(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    records = Places(data).records
    lines = layout.data_path(records, 1).read_bytes().splitlines(keepends=True)
    layout.index_path(records, 1).unlink()
    for number, begin in ((1, 0), (2, 500), (3, 1000)):
        layout.data_path(records, number).write_bytes(b"".join(lines[begin : begin + 500]))
    layout.data_path(records, 2).unlink()
    with running(data):
        pass
    assert "segments_missing" in caplog.text and "segments=1" in caplog.text
