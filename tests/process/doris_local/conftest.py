"""One child process for the tests of a file, its table empty for each."""

from __future__ import annotations

import pytest

from tests.support.local_doris import TABLE, Doris


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    doris = Doris.started(tmp_path_factory.mktemp("doris"), options=("--faults",))
    yield doris
    doris.stop()


@pytest.fixture
def doris(running):
    """A running one with an empty table `kube.t` and no fault armed."""
    running.http.delete(f"{running.frontend}/_fault")
    for text in ("CREATE DATABASE IF NOT EXISTS kube", TABLE, "TRUNCATE TABLE kube.t"):
        running.rows(text)
    return running
