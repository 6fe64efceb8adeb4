"""`kube-collector schema` and the check of `doctor`, against a local Doris that runs."""

from __future__ import annotations

import pytest

from pipeline.cli.invoke import invoke
from pipeline.config.load import load
from pipeline.config.places import Places
from pipeline.doris import local
from pipeline.doris.local import Address
from pipeline.doris.settings import Settings
from pipeline.doris.sql import Sql
from pipeline.errors import CheckFailed, Unreachable
from pipeline.log import Position, readers
from sinks import command, sources
from sinks.doris.child import launcher


@pytest.fixture
def running(tmp_path):
    """The data folder of a local Doris that can be found there."""
    folder = Places(tmp_path).doris
    child = launcher()(folder)
    local.announce(folder, Address(child.http_port, child.mysql_port))
    yield tmp_path
    child.stop()


def schema(data_dir, *arguments):
    return invoke("schema", command.schema, [*arguments, "--set", f"data_dir={data_dir}"])


def drop(data_dir, table):
    sql = Sql(local.locate(Settings(), Places(data_dir).doris))
    try:
        sql.execute(f"DROP TABLE `{table}`")
    finally:
        sql.close()


def findings(data_dir):
    return {found.name: found for found in command.check(load((), {}, {"data_dir": str(data_dir)}))}


def test_plan_says_what_is_missing_apply_makes_it_and_then_nothing_is_left(running, capsys):
    with pytest.raises(CheckFailed, match=r"\d+ changes, 0 conflicts") as lacking:
        schema(running, "plan")
    assert f"`kube-collector schema apply --set data_dir={running}`" in lacking.value.fix
    assert "+ table job_wait\n" in capsys.readouterr().out
    assert findings(running)["schema"].outcome == "warn"
    assert f"--set data_dir={running}`" in findings(running)["schema"].fix
    assert schema(running, "apply") == 0
    assert "+ view v_job_wait\n" in capsys.readouterr().out
    assert schema(running, "plan") == 0
    assert "up to date" in capsys.readouterr().out
    assert {found.outcome for found in findings(running).values()} == {"ok"}


def test_raw_tables_that_rows_went_to_are_left_to_the_sink_and_judged_ones_are_made(running, capsys):
    schema(running, "apply")
    readers.write(Places(running).records, sources.READER, Position(1, 5))
    drop(running, "job_wait")
    capsys.readouterr()
    assert schema(running, "apply") == 0
    assert capsys.readouterr().out == "+ table job_wait\n"
    drop(running, "object_change")
    drop(running, "job_wait")
    with pytest.raises(CheckFailed, match=r"loaded before: object_change; nothing was made") as left:
        schema(running, "apply")
    assert "start the sink" in left.value.fix
    with pytest.raises(CheckFailed, match=r"2 changes, 0 conflicts"):
        schema(running, "plan")


def test_without_a_doris_both_say_what_to_do(tmp_path):
    with pytest.raises(Unreachable, match="no local one is running"):
        schema(tmp_path, "plan")
    found = findings(tmp_path)["answers"]
    assert found.outcome == "fail" and "kube-collector up" in found.fix
