"""The local Doris as a reader finds it, also when it has ended without saying so."""

from __future__ import annotations

import socket

import pytest

from pipeline.doris import local
from pipeline.doris.local import Address
from pipeline.doris.settings import Settings
from pipeline.doris.sql import Sql
from pipeline.errors import Unreachable


@pytest.fixture
def dead_port():
    """A port that is ours and where nobody listens."""
    with socket.socket() as held:
        held.bind((local.HOST, 0))
        yield held.getsockname()[1]


def unanswered(settings):
    pool = Sql(settings, database="")
    try:
        with pytest.raises(Unreachable, match="no answer") as caught:
            pool.ping()
    finally:
        pool.close()
    return caught.value.fix


def test_one_that_ended_without_a_word_is_to_be_started_again_on_its_folder(tmp_path, dead_port):
    folder = tmp_path / "my data" / "doris"
    local.announce(folder, Address(dead_port, dead_port))
    fix = unanswered(local.locate(Settings(), folder))
    assert "start what ran it again" in fix and f"--set data_dir='{tmp_path / 'my data'}'" in fix
    assert "doris.frontend" not in fix


def test_of_a_configured_one_that_is_silent_the_settings_are_to_be_checked(tmp_path, dead_port):
    configured = Settings(frontend=f"{local.HOST}:{dead_port}", query_port=dead_port)
    assert "doris.frontend" in unanswered(local.locate(configured, tmp_path))


def test_commands_need_the_folder_to_mean_a_local_one_and_nothing_for_a_configured_one(tmp_path):
    local.announce(tmp_path / "doris", Address(1, 2))
    found = local.locate(Settings(), tmp_path / "doris")
    assert found.option == f" --set data_dir={tmp_path}"
    assert found.model_copy(update={"query_timeout": 1.0}).option == found.option
    assert found == local.locate(Settings(), tmp_path / "doris"), "the same place is no other one"
    assert Settings(frontend="fe:8030").option == ""
