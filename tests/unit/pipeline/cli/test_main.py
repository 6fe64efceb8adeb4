"""What happens to a command line: the right command, the right code, two halves for every error."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Annotated, Any

import pytest
import typer

from pipeline import extensions
from pipeline.cli import main, options, terminal
from pipeline.errors import BadUsage, CheckFailed, ConfigInvalid, NotFound, Terminal, Transient, Unreachable, UserError


class Fake(extensions.Extension):
    """An entry point that leads to a given object."""

    target_object: Any

    def load(self) -> Any:
        return self.target_object


Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Makes the given commands the only ones installed."""

    def put(**commands: Any) -> None:
        fakes = []
        for name, target in commands.items():
            fake = Fake(name, "x:y", extensions.OWN, "0")
            fake.target_object = target
            fakes.append(fake)
        monkeypatch.setattr(extensions, "found", lambda group: tuple(fakes) if group == extensions.COMMANDS else ())

    return put


def raising(error: BaseException) -> Callable[[], None]:
    def command() -> None:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UserError("no room", where="data", fix="Free some."), 1, "Error: data: no room\n  Free some.\n"),
        (BadUsage("what?"), 2, "Error: what?\n"),
        (
            ConfigInvalid(["c.yaml:1:1: a: unknown section", "c.yaml:2:1: b: unknown section"]),
            3,
            "Error: the settings cannot be used (2 problems):\n  c.yaml:1:1: a: unknown section\n"
            "  c.yaml:2:1: b: unknown section\n  `kube-collector config docs` lists every key.\n",
        ),
        (NotFound("no job x"), 4, "Error: no job x\n"),
        (CheckFailed("1 of 3 checks failed"), 5, "Error: 1 of 3 checks failed\n"),
        (Unreachable("Doris does not answer"), 6, "Error: Doris does not answer\n"),
        (Transient("busy"), 6, "Error: busy\n  This may pass: run it again, or see `kube-collector doctor`.\n"),
        (Terminal("refused"), 1, "Error: refused\n"),
        (KeyboardInterrupt(), 130, ""),
        (
            ZeroDivisionError("gone"),
            1,
            "Error: unexpected ZeroDivisionError: gone\n"
            "  This is a fault of kube-collector. Run it again with --debug and report the stack.\n",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_every_error_has_two_halves_and_a_code_of_its_own(
    error: BaseException, code: int, message: str, install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install(fail=raising(error))
    assert main.run(["fail"]) == code
    out, err = capsys.readouterr()
    assert (out, err) == ("", message)


def test_the_stack_is_shown_with_debug_only(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install(fail=raising(ZeroDivisionError("gone")))
    assert main.run(["fail", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err
    assert main.run(["--debug", "fail"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_missing_package_names_the_extra(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install(fail=raising(ModuleNotFoundError("No module named 'duckdb'", name="duckdb")))
    assert main.run(["fail"]) == 1
    assert capsys.readouterr().err == (
        "Error: the package 'duckdb' is missing or broken (No module named 'duckdb')\n"
        "  Install the extra that this command needs, such as `pip install 'kube-collector[all]'`.\n"
    )


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (
            ["jobz"],
            "Error: unknown command 'jobz' (did you mean jobs?)\n  `kube-collector --help` lists the commands.\n",
        ),
        (["xyzzy"], "Error: unknown command 'xyzzy'\n  `kube-collector --help` lists the commands.\n"),
        (
            ["--colour"],
            "Error: unknown option --colour (did you mean --color?)\n  `kube-collector --help` lists the commands.\n",
        ),
        (["jobs", "--limt", "3"], "Error: no such option: --limt"),
        (["jobs", "--limit", "three"], "Error: invalid value for '--limit'"),
        (["group", "lst"], "Error: no such command 'lst'"),
    ],
)
def test_bad_usage_is_code_2_with_what_was_meant(
    argv: list[str], error: str, install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    def jobs(limit: Annotated[int, typer.Option(help="How many.")] = 5) -> None: ...

    group = options.group("Things.")
    group.command("list")(jobs)
    group.command("get")(jobs)
    install(jobs=jobs, group=group)
    assert main.run(argv) == 2
    out, err = capsys.readouterr()
    assert err.startswith(error) and out == ""
    assert "--help`" in err.splitlines()[1]


@pytest.mark.parametrize(("answer", "code"), [(None, 0), (0, 0), (5, 5), (True, 0), ("text", 0)])
def test_a_command_may_return_its_code(answer: object, code: int, install: Install) -> None:
    install(it=lambda: answer)
    assert main.run(["it"]) == code


def test_a_command_may_leave_by_typer_exit(install: Install) -> None:
    install(it=raising(typer.Exit(4)))
    assert main.run(["it"]) == 4


def test_options_of_every_command_work_before_and_after_its_name(install: Install) -> None:
    seen: list[tuple[bool, bool, str]] = []
    group = options.group("Things.")

    def look() -> None:
        seen.append((terminal.wishes.verbose, terminal.wishes.quiet, terminal.wishes.color))

    group.command("look")(look)
    group.command("other")(look)
    install(look=look, group=group)
    for argv in (
        ["-v", "--color", "never", "look"],
        ["look", "-v", "--color=never"],
        ["--color=never", "group", "look", "-v"],
        ["group", "-v", "look", "--color", "never"],
    ):
        assert main.run(argv) == 0
    assert main.run(["look", "-q"]) == 0
    assert seen == [(True, False, "never")] * 4 + [(False, True, "auto")]


def test_a_group_alone_prints_its_help(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    group = options.group("Things.")
    group.command("one")(lambda: None)
    group.command("two")(lambda: None)
    install(group=group)
    assert main.run(["group"]) == 0
    assert "Usage: kube-collector group" in capsys.readouterr().out


def test_a_reader_that_has_had_enough_is_no_error() -> None:
    program = (
        "import sys; from pipeline import extensions; from pipeline.cli import main\n"
        "class Fake(extensions.Extension):\n"
        "    def load(self): return lambda: [print('x' * 100) for _ in range(10000)] and None\n"
        "extensions.found = lambda group: (Fake('it', 'x:y', 'kube-collector', '0'),)\n"
        "sys.exit(main.run(['it']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
        assert (process.wait(20), err) == (0, "")


def test_settings_come_from_the_option_else_the_variable_else_the_default_file(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(options.CONFIG_VARIABLE, raising=False)
    assert options.files(None) == []
    options.DEFAULT_FILE.write_text("")
    assert options.files(None) == [options.DEFAULT_FILE]
    monkeypatch.setenv(options.CONFIG_VARIABLE, f"a.yaml{os.pathsep}b")
    assert [str(path) for path in options.files(None)] == ["a.yaml", "b"]
    assert options.files([tmp_path]) == [tmp_path]


def test_flags_of_a_command_and_sets_reach_the_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)
    terminal.reset()
    loaded = options.settings(None, ["log.level=error", "cluster.name=a"], {"admin.port": 9, "data_dir": None})
    assert (loaded.ground.log.level, loaded.ground.cluster.name, loaded.ground.admin.port) == ("error", "a", 9)
    with pytest.raises(BadUsage, match="no value"):
        options.settings(None, ["log.level"])


def test_nothing_dangerous_is_done_unasked_off_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda stream: False)
    options.confirm("Drop it?", yes=True)
    with pytest.raises(BadUsage) as caught:
        options.confirm("Drop it?", yes=False)
    assert caught.value.fix == "Add --yes to do it without being asked."
