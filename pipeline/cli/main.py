"""`kube-collector`: finds the command by its entry point, runs it, and turns every error into two halves and a code.

Help of the program itself is printed from the catalogue: no stage, no typer, no pydantic is imported for it. A command's
module is imported only when that command is named.

Exit codes: 0 done · 1 failed · 2 bad usage · 3 settings invalid · 4 not found · 5 a check failed · 6 a dependency does not
answer (worth trying again) · 129 its terminal was closed · 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from pipeline import extensions
from pipeline.cli import catalogue, failures
from pipeline.config.suggest import did_you_mean
from pipeline.errors import BadUsage

_BEFORE_COMMAND = {"--debug": 0, "-q": 0, "--quiet": 0, "-v": 0, "--verbose": 0, "--color": 1}
"""Options that may stand before the command, and how many values follow them."""

_COMPLETE = "__complete"
"""What the scripts of `completion` call with the words typed so far."""


def main() -> NoReturn:
    """The console script."""
    sys.exit(run(sys.argv[1:]))


def run(argv: list[str]) -> int:
    """Runs one command line; the answer is the exit code. Prints, never raises but for SystemExit of a foreign command."""
    try:
        code = _dispatch(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output (`| head`) had enough. Nothing failed; the interpreter's own flush must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, Exception) as error:
        return failures.show(error, debug="--debug" in argv)
    return code


def _dispatch(argv: list[str]) -> int:
    options, rest = _leading_options(argv)
    if not rest or rest[0] in {"-h", "--help", "help"}:
        return _help(rest[1:])
    if rest[0] in {"-V", "--version"}:
        rest = ["version", *rest[1:]]
    name, arguments = rest[0], rest[1:]
    if name.startswith("-"):
        raise BadUsage(f"unknown option {name}{did_you_mean(name, _BEFORE_COMMAND)}", fix=_SEE_HELP)
    if name == _COMPLETE:
        from pipeline.cli import completion

        return completion.answer(arguments)
    command = _find(name)
    from pipeline.cli import invoke  # imports typer: only once a command is known

    return invoke.invoke(name, command.load(), [*options, *arguments])


_SEE_HELP = f"`{catalogue.PROGRAM} --help` lists the commands."


def _help(names: list[str]) -> int:
    """`help` alone is the program's help, `help COMMAND` the command's."""
    if names and not names[0].startswith("-"):
        return _dispatch([*names, "--help"])
    sys.stdout.write(catalogue.text(extensions.found(extensions.COMMANDS)))
    return 0


def _find(name: str) -> extensions.Extension:
    commands = {extension.name: extension for extension in extensions.found(extensions.COMMANDS)}
    if name not in commands:
        raise BadUsage(f"unknown command {name!r}{did_you_mean(name, commands)}", fix=_SEE_HELP)
    return commands[name]


def _leading_options(argv: list[str]) -> tuple[list[str], list[str]]:
    """The options before the command, and the rest: `-v up` is `up -v`."""
    at = 0
    while at < len(argv) and argv[at].split("=")[0] in _BEFORE_COMMAND:
        at += 1 + (_BEFORE_COMMAND[argv[at]] if "=" not in argv[at] else 0)
    return argv[:at], argv[at:]


if __name__ == "__main__":
    main()
