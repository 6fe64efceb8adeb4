"""Runs one command under typer, with the options that every command has and help of one form.

A command is a function or a `typer.Typer`. Its docstring may end with

    Examples:
      kube-collector why train-llama -n research
      kube-collector why train-llama --at -2h

which is printed last, after the options, line by line as written. A function may return its exit code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

import typer
import typer.main

from pipeline.cli import catalogue, plain, terminal
from pipeline.errors import BadUsage

_ASIDE: dict[str, Any] = {"expose_value": False, "is_eager": True}
"""Options that do not reach the command's function and are taken before all others."""
_NAMES = {"help_option_names": ["-h", "--help"]}


def invoke(name: str, target: Any, arguments: list[str]) -> int:
    """Runs the command and answers its exit code. Raises BadUsage and whatever the command raises."""
    terminal.reset()
    command = prepare(name, target)
    try:
        with command.make_context(f"{catalogue.PROGRAM} {name}", list(arguments), **_NAMES) as context:
            code = command.invoke(context)
    except typer.Exit as leave:
        return leave.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    except typer.TyperException as error:
        return _usage(error)
    return code if isinstance(code, int) and not isinstance(code, bool) else 0


def prepare(name: str, target: Any) -> Any:
    """The click command of a function or a Typer app, with shared options and examples in place."""
    app = target
    if not isinstance(target, typer.Typer):
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name)(target)
    command = typer.main.get_command(app)
    command.name = name
    for _, each in walk(command, name):
        _shape(each)
    return command


def walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command of a tree with its full name, the group before its members."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from walk(inner, f"{path} {name}")


def help_of(path: str, command: Any, width: int = 100) -> str:
    """The help of a prepared command as it is printed in a terminal so wide."""
    context = command.context_class(
        command, info_name=f"{catalogue.PROGRAM} {path}", terminal_width=width, **command.context_settings
    )
    return str(command.get_help(context)).rstrip()


def _shape(command: Any) -> None:
    command.rich_markup_mode = None
    command.context_settings = _NAMES | (command.context_settings or {})
    command.params = [param for param in command.params if param.name not in {"install_completion", "show_completion"}]
    text, marker, examples = (command.help or "").partition("\nExamples:\n")
    if marker:
        command.help = text.rstrip()
        command.epilog = "\b\nExamples:\n" + "\n".join(f"  {line.strip()}" for line in examples.strip().splitlines())
    # Its line in the help of its group: its first paragraph, whole. Left to itself, typer cuts it to the terminal's width.
    command.short_help = " ".join((command.help or "").partition("\n\n")[0].split()) or None
    command.params += _shared_params()
    plain.spare(command)


def _usage(error: typer.TyperException) -> int:
    """Bad usage as our own error; a group that was named without a command prints its help."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError" and context is not None:
        typer.echo(context.get_help())
        return 0
    path = context.command_path if context is not None else catalogue.PROGRAM
    message = error.format_message().rstrip(".")
    raise BadUsage(message[:1].lower() + message[1:], fix=f"`{path} --help` shows how to use it.") from None


def _wish(name: str) -> Callable[[Any], Any]:
    def take(value: Any) -> Any:
        if value:
            setattr(terminal.wishes, name, value)
        return value

    return take


def _shared_params() -> list[Any]:
    """Fresh parameters of the options that every command takes; their values go to `terminal.wishes`."""

    def template(
        quiet: Annotated[
            bool, typer.Option("--quiet", "-q", help="Say less.", callback=_wish("quiet"), **_ASIDE)
        ] = False,
        verbose: Annotated[
            bool, typer.Option("--verbose", "-v", help="Say more.", callback=_wish("verbose"), **_ASIDE)
        ] = False,
        color: Annotated[
            Literal["auto", "always", "never"] | None,  # None: what the group before it was told stays
            typer.Option("--color", help="When to colour; auto without it.", callback=_wish("color"), **_ASIDE),
        ] = None,
        debug: Annotated[
            bool, typer.Option("--debug", help="Show the stack of an error.", callback=_wish("debug"), **_ASIDE)
        ] = False,
    ) -> None: ...

    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command()(template)
    return list(typer.main.get_command(app).params)
