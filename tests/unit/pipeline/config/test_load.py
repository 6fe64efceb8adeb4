"""Where a value comes from, which source wins, and what each of them may say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pydantic
import pytest

from pipeline.config import effective, fields
from pipeline.config.environment import Flag
from pipeline.config.ground import Admin, Ground
from pipeline.config.load import Loaded, load
from pipeline.errors import ConfigInvalid


class Batch(fields.Section):
    max_rows: int = 50_000
    timeout: fields.Duration = 5.0


class Doris(fields.Section):
    """Where rows go."""

    endpoint: str = "127.0.0.1:8030"
    password: fields.Secret | None = None
    batch: Batch = pydantic.Field(default_factory=Batch)
    hosts: list[str] = []
    labels: dict[str, str] = {}
    limit: fields.Bytes = 1024
    level: Annotated[str, fields.LIVE] = "a"


class Root(Ground):
    doris: Doris = pydantic.Field(default_factory=Doris)


def read(text: str = "", env: dict[str, str] | None = None, tmp: Path | None = None, **overrides: object) -> Loaded:
    files = []
    if tmp is not None:
        (tmp / "c.yaml").write_text(text, encoding="utf-8")
        files = [tmp / "c.yaml"]
    return load(files, env or {}, {key.replace("__", "."): value for key, value in overrides.items()}, model=Root)


def doris(loaded: Loaded) -> Doris:
    return loaded.of(Doris)


def test_defaults_need_no_source() -> None:
    loaded = read()
    assert (loaded.ground.cluster.name, loaded.ground.data_dir, loaded.ground.admin.port) == (
        "default",
        Path("data"),
        0,
    )
    assert loaded.origin(("log", "level")).kind == "default"


def test_flags_beat_the_environment_which_beats_files_which_beat_defaults(tmp_path: Path) -> None:
    text = "doris:\n  endpoint: file\n  level: file\n  limit: 1KiB\n"
    env = {"KUBE_COLLECTOR__DORIS__ENDPOINT": "env", "KUBE_COLLECTOR__DORIS__LEVEL": "env"}
    loaded = read(text, env, tmp_path, doris__endpoint="flag")
    settings = doris(loaded)
    assert (settings.endpoint, settings.level, settings.limit, settings.batch.max_rows) == ("flag", "env", 1024, 50_000)
    assert [str(loaded.origin(("doris", key))) for key in ("endpoint", "level", "limit", "hosts")] == [
        "--set doris.endpoint",
        "KUBE_COLLECTOR__DORIS__LEVEL",
        f"{tmp_path / 'c.yaml'}:4:3",
        "default",
    ]


def test_a_flag_of_its_own_is_its_origin() -> None:
    loaded = read(doris__batch__max_rows=Flag("--rows", 7))
    assert (doris(loaded).batch.max_rows, str(loaded.origin(("doris", "batch", "max_rows")))) == (7, "--rows")


def test_mappings_are_merged_and_lists_replaced(tmp_path: Path) -> None:
    (tmp_path / "10.yaml").write_text("doris: {batch: {max_rows: 1}, hosts: [a, b], labels: {x: '1'}}\n")
    (tmp_path / "20.yml").write_text("doris: {batch: {timeout: 1m}, hosts: [c], labels: {y: '2'}}\n")
    (tmp_path / "notes.txt").write_text("not: [read\n")
    loaded = load([tmp_path], {}, {}, model=Root)
    settings = doris(loaded)
    assert (settings.batch.max_rows, settings.batch.timeout) == (1, 60.0)
    assert (settings.hosts, settings.labels) == (["c"], {"x": "1", "y": "2"})
    assert [file.name for file in loaded.files] == ["10.yaml", "20.yml"]


def test_a_file_that_does_not_exist_is_a_problem_and_the_rest_is_still_read(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("lgo: {}\n")
    with pytest.raises(ConfigInvalid) as caught:
        load([tmp_path / "c.yaml", tmp_path / "none.yaml"], {}, {}, model=Root)
    assert caught.value.problems == [
        f"{tmp_path / 'c.yaml'}:1:1: lgo: unknown section (did you mean log?)",
        f"{tmp_path / 'none.yaml'}: no such file",
    ]


def test_a_key_left_empty_is_not_set(tmp_path: Path) -> None:
    settings = doris(read("doris:\n  endpoint:\n  batch:\nlog:\n", tmp=tmp_path))
    assert (settings.endpoint, settings.batch.max_rows) == ("127.0.0.1:8030", 50_000)


def test_an_empty_file_is_no_settings(tmp_path: Path) -> None:
    assert read("# nothing\n", tmp=tmp_path).origins == {}


def test_variables_are_put_in_as_text(tmp_path: Path) -> None:
    text = "doris: {endpoint: '${HOST}:${PORT:-8030}', limit: '${SIZE}', level: '$${HOST}', labels: {n: '${N}'}}\n"
    settings = doris(read(text, {"HOST": "fe: {x}", "SIZE": "2MiB", "N": "5"}, tmp_path))
    assert (settings.endpoint, settings.limit, settings.level) == ("fe: {x}:8030", 2 * 2**20, "${HOST}")
    assert settings.labels == {"n": "5"}


@pytest.mark.parametrize("env", [{}, {"HOST": ""}])
def test_an_empty_variable_takes_its_default(env: dict[str, str], tmp_path: Path) -> None:
    assert doris(read("doris: {endpoint: '${HOST:-here}'}\n", env, tmp_path)).endpoint == "here"


def test_numbers_and_truths_may_come_as_text_and_dates_stay_text(tmp_path: Path) -> None:
    settings = doris(read("doris: {batch: {max_rows: '12'}, endpoint: 2024-01-01, level: 12:30}\n", tmp=tmp_path))
    assert (settings.batch.max_rows, settings.endpoint, settings.level) == (12, "2024-01-01", "12:30")


def test_anchors_and_merges_work(tmp_path: Path) -> None:
    text = "doris:\n  batch: &b {max_rows: 3}\n  labels: {<<: [{a: '1'}, {a: '2', b: '2'}], c: '3'}\n"
    settings = doris(read(text, tmp=tmp_path))
    assert settings.batch.max_rows == 3
    assert settings.labels == {"a": "1", "b": "2", "c": "3"}


def test_lists_and_mappings_of_the_environment_are_yaml() -> None:
    env = {"KUBE_COLLECTOR__DORIS__HOSTS": "[a, b]", "KUBE_COLLECTOR__DORIS__BATCH": "{max_rows: 9}"}
    settings = doris(read(env=env))
    assert (settings.hosts, settings.batch.max_rows) == (["a", "b"], 9)


@pytest.mark.parametrize(
    ("env", "overrides", "problem"),
    [
        (
            {"KUBE_COLLECTOR__LOG__LEVL": "x"},
            {},
            "KUBE_COLLECTOR__LOG__LEVL: log.levl: unknown key (did you mean level?)",
        ),
        (
            {"KUBE_COLLECTOR__ADMIN__PORT": "x"},
            {},
            "KUBE_COLLECTOR__ADMIN__PORT: admin.port: must be a whole number, not 'x'",
        ),
        (
            {"KUBE_COLLECTOR__ADMIN": "1", "KUBE_COLLECTOR__ADMIN__PORT": "2"},
            {},
            "KUBE_COLLECTOR__ADMIN__PORT: admin.port: conflicts with KUBE_COLLECTOR__ADMIN, which sets the whole of it",
        ),
        (
            {"KUBE_COLLECTOR__ADMIN____PORT": "2"},
            {},
            "KUBE_COLLECTOR__ADMIN____PORT: admin..port: an empty step in the name",
        ),
        ({"KUBE_COLLECTOR__DORIS__HOSTS": "[a"}, {}, "KUBE_COLLECTOR__DORIS__HOSTS: doris.hosts: not YAML: expected"),
        (
            {},
            {"log.level": "loud"},
            "--set log.level: log.level: must be 'debug', 'info', 'warning' or 'error', not 'loud'",
        ),
        (
            {},
            {"doris.batch.timeout": "5"},
            "--set doris.batch.timeout: doris.batch.timeout: invalid duration '5': no unit",
        ),
    ],
)
def test_problems_of_variables_and_flags_name_them(
    env: dict[str, str], overrides: dict[str, object], problem: str
) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        load([], env, overrides, model=Root)
    assert any(found.startswith(problem) for found in caught.value.problems), caught.value.problems


def test_all_problems_of_all_sources_come_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        read("log: {levl: 1}\nlog: {}\n", {"KUBE_COLLECTOR__ADMIN__PRT": "1"}, tmp_path, doris__limit="lots")
    assert [line.rsplit(": ", 2)[1] for line in caught.value.problems] == [
        "log.levl",
        "log",
        "admin.prt",
        "doris.limit",
    ]


def test_a_secret_is_read_from_its_file_and_never_shown(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("hunter2\n")
    loaded = read(f"doris: {{password: 'file:{tmp_path / 'token'}'}}\n", {"OTHER": "hunter2"}, tmp_path)
    password = doris(loaded).password
    assert password is not None and password.get_secret_value() == "hunter2"
    assert str(password) == "***" and "hunter2" not in repr(loaded)
    shown = {setting.key: setting.value for setting in effective.settings(loaded)}
    assert shown["doris.password"] == "***"
    assert "hunter2" not in doris(loaded).model_dump_json()


def test_code_gives_numbers_in_the_unit_of_the_field_and_people_give_units() -> None:
    assert Batch(timeout=0.25).timeout == 0.25
    assert doris(read(doris__batch__timeout="250ms")).batch.timeout == 0.25
    assert doris(read(doris__batch__timeout=0)).batch.timeout == 0.0


def test_effective_settings_are_written_as_people_write_them() -> None:
    shown = {setting.key: setting.value for setting in effective.settings(read(doris__limit=32 * 2**20))}
    assert (shown["doris.limit"], shown["doris.batch.timeout"], shown["data_dir"]) == ("32MiB", "5s", "data")


def test_the_same_sources_can_be_read_again(tmp_path: Path) -> None:
    loaded = read("doris: {level: a}\n", {"KUBE_COLLECTOR__ADMIN__PORT": "1"}, tmp_path)
    (tmp_path / "c.yaml").write_text("doris: {level: b}\n")
    again = loaded.again()
    assert (doris(again).level, again.ground.admin.port) == ("b", 1)


def test_a_section_is_found_by_its_type() -> None:
    class Other(fields.Section):
        pass

    loaded = read()
    assert loaded.of(Admin) is loaded.ground.admin
    with pytest.raises(KeyError, match="no registered section"):
        read().of(Other)


def test_the_home_folder_is_known() -> None:
    assert read(data_dir="~/kc").ground.data_dir == Path.home() / "kc"
