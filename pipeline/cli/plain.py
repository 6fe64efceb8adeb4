"""Values of a command line that are taken as they are.

typer checks each value with pydantic, also text and values that were not given. Importing pydantic takes longer than most
answers, and there is nothing to check in a text; so the check is made only for values that need one: numbers, paths, choices.
"""

from __future__ import annotations

from typing import Any, get_args, get_origin


def spare(command: Any) -> None:
    """Lets typer check a value of this command's parameters, `--help` among them, only if there is something to check."""
    listed = command.get_params

    def get_params(context: Any) -> list[Any]:
        params: list[Any] = listed(context)
        for param in params:
            if "process_value" not in vars(param):
                _spare(param)
        return params

    command.get_params = get_params


def _spare(param: Any) -> None:
    checked = param.process_value

    def process(context: Any, value: Any) -> Any:
        if not _is_plain(param, value):
            return checked(context, value)
        if param.multiple or param.nargs == -1:
            value = list(value or ())
        return value if param.callback is None else param.callback(context, param, value)

    param.process_value = process


def _is_plain(param: Any, value: Any) -> bool:
    """Nothing where nothing is wanted, text where text is wanted, or a value that has its type already."""
    if value is None:
        return not param.required
    annotation = param.type_descriptor.annotation
    if get_origin(annotation) is list:
        return get_args(annotation) == (str,) and bool(value or not param.required)
    return annotation in (str, int, bool) and isinstance(value, annotation)
