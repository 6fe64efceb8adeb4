"""`kube-collector completion SHELL`: a script for the shell that asks this program what may come next.

The script hands over the words typed so far; commands come from the catalogue without importing anything, options and values
from typer once a command is named.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from pipeline import extensions
from pipeline.cli import catalogue, invoke
from pipeline.config.suggest import did_you_mean
from pipeline.errors import BadUsage

_BASH = """\
_kube_collector() {
    local IFS=$'\\n'
    COMPREPLY=($(kube-collector __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _kube_collector kube-collector
"""
_ZSH = """\
#compdef kube-collector
_kube_collector() {
    local -a lines
    lines=("${(@f)$(kube-collector __complete "${(@)words[2,CURRENT]}" 2>/dev/null | tr '\\t' ':')}")
    _describe 'kube-collector' lines
}
compdef _kube_collector kube-collector
"""
_FISH = """\
function __kube_collector
    set -l words (commandline -opc) (commandline -ct)
    kube-collector __complete $words[2..-1] 2>/dev/null
end
complete -c kube-collector -f -a '(__kube_collector)'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def completion(shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]) -> None:
    """Print the completion script of a shell.

    Examples:
      kube-collector completion bash > /etc/bash_completion.d/kube-collector
      kube-collector completion fish > ~/.config/fish/completions/kube-collector.fish
    """
    if shell not in SCRIPTS:
        raise BadUsage(f"no completion for {shell!r}{did_you_mean(shell, SCRIPTS)}", fix="There is bash, zsh and fish.")
    sys.stdout.write(SCRIPTS[shell])


def candidates(words: list[str]) -> list[tuple[str, str]]:
    """(word, help) of what may stand where the last of `words` is; nothing rather than an error."""
    *before, unfinished = words or [""]
    commands = {extension.name: extension for extension in extensions.found(extensions.COMMANDS)}
    if not before:
        lines = [(name, line.help if (line := catalogue.line_of(name)) else "") for name in commands]
        return sorted((name, help) for name, help in lines if name.startswith(unfinished))
    if before[0] not in commands:
        return []
    command = invoke.prepare(before[0], commands[before[0]].load())
    context = command.make_context(before[0], list(before[1:]), resilient_parsing=True)
    for word in before[1:]:  # a group's own commands
        inner = getattr(command, "commands", {}).get(word)
        if inner is not None:
            command, context = inner, inner.make_context(word, [], parent=context, resilient_parsing=True)
    found = [(name, each.get_short_help_str()) for name, each in getattr(command, "commands", {}).items()]
    if unfinished.startswith("-") or not found:
        found = [
            (name, param.help or "")
            for param in command.get_params(context)
            for name in param.opts
            if name.startswith("--")
        ]
    return [(name, help) for name, help in found if name.startswith(unfinished)]


def answer(words: list[str]) -> int:
    """Prints the candidates, one a line, a tab before the help."""
    sys.stdout.writelines(f"{name}\t{' '.join(help.split())}\n" for name, help in candidates(words))
    return 0
