"""Events of log lines say in snake case what happened, the same in every package."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.support import source

LEVELS = {"debug", "info", "warning", "error", "exception"}
NAME = re.compile("[a-z]+ed|[a-z]+(_[a-z]+)+")
"""One word alone says what happened only as a participle: `started`, not `start` or `policy`."""


def logs_of(module: ast.Module) -> set[str]:
    """Names that a module gives to what `logs.get` returns."""
    return {
        target.id
        for made in source.nodes(module, ast.Assign)
        if ast.unparse(made.value).startswith("logs.get(")
        for target in made.targets
        if isinstance(target, ast.Name)
    }


def events(module: ast.Module) -> Iterator[ast.expr]:
    """The first argument of each call that writes a line."""
    logs = logs_of(module)
    for call in source.nodes(module, ast.Call):
        match call.func:
            case ast.Attribute(ast.Name(name), level) if name in logs and level in LEVELS:
                yield call.args[0]


def is_named(event: ast.expr) -> bool:
    """A name as it stands; a function that is handed one calls it `event`."""
    match event:
        case ast.Constant(str(text)):
            return NAME.fullmatch(text) is not None
        case ast.Name("event"):
            return True
    return False


def test_every_event_is_a_name_in_snake_case():
    found = {path: list(events(module)) for path, module in source.modules().items()}
    assert sum(map(len, found.values())) > 50
    wrong = [
        f"{path}:{each.lineno} {ast.unparse(each)}"
        for path, all_ in found.items()
        for each in all_
        if not is_named(each)
    ]
    assert not wrong


def test_a_sentence_a_thing_and_a_text_that_is_put_together_are_no_names():
    module = ast.parse(
        'log = logs.get(__name__)\nlog.info("it is over")\nlog.error(f"lost {n}")\nlog.info("rows")\n'
        'log.error("rows_lost", n=n)\nlog.info("ended")\nother.info("x y")'
    )
    assert [is_named(each) for each in events(module)] == [False, False, False, True, True]
