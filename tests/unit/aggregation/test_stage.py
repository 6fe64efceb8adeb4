"""The stage on a disk that refuses: it waits, says so, and in the end has written what it would have written."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from aggregation import app
from aggregation.app import Aggregation
from aggregation.runners.store import StateStore
from aggregation.settings import Settings
from pipeline.config.places import Places
from pipeline.log import LogFull, LogOptions, LogReader, LogWriter
from pipeline.log.outbox import OutboxReader
from pipeline.records import codec
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
        stage.stop(20)


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


def refuse(method: Callable[..., Any], times: tuple[int, ...]) -> Callable[..., Any]:
    """The method, which finds the disk full at the calls of these numbers."""
    calls = iter(range(1, 10**6))

    def called(*arguments: Any, **more: Any) -> Any:
        if next(calls) in times:
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
    monkeypatch.setattr(kind, name, refuse(getattr(kind, name), times))
    with running(data) as stage:
        poll("it says that it is blocked", lambda: "no space" in [check.detail for check in stage.checks()], 20)
        poll("it goes on", lambda: stage.checks()[1].ok, 20)
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
