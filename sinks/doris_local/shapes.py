"""Translations kept by the shape of a query: its text but for the constants that columns are compared with.

A page asks a few questions over and over, each about another job. To read and rewrite a question takes as long as to run
it, and nothing of that looks into a text that something is compared with, unless it is a date or time. So such texts are
replaced by marks, the rest is translated once, and the texts are put in the places of the marks.

What depends on more than text and definitions is translated each time: variables, facts of the session, and
`information_schema`, whose tables are filled when a query names them.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections import OrderedDict
from collections.abc import Hashable

from sinks.doris_local import errors, functions, translate
from sinks.doris_local.catalog import INFORMATION_SCHEMA
from sinks.doris_local.engine import literal
from sinks.doris_local.tokens import Kind, Token
from sinks.doris_local.translate import Query, Scope

MOST = 256
"""Shapes kept, those asked for last."""
_MARKS = "\ue000\ue001"
_PLAIN = re.compile(rf"'[^'\\{_MARKS}]*'")
_MARKED = re.compile(r"'\ue000(\d+)\ue001'")
_COMPARE = ("=", "<", ">", "<=", ">=", "!=", "<>")
_ENDS = ("AND", "OR", "ORDER", "GROUP", "HAVING", "LIMIT", "THEN", "UNION")


class Shapes:
    """Translates with a memory. Safe to use from several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Query] = OrderedDict()
        self._lock = threading.Lock()

    def query(self, text: str, tokens: list[Token], scope: Scope, definitions: Hashable) -> Query:
        """As `translate.query`. `definitions` changes with what the names in the text mean."""
        if _depends(text, tokens):
            return translate.query(text, scope)
        constants = _constants(text, tokens)
        shape = _marked(text, constants)
        found = self._find((shape, definitions))
        if found is None:
            found = _translated(shape, scope)
            if found is None:
                return translate.query(text, scope)
            self._keep((shape, definitions), found)
        return Query(_MARKED.sub(lambda mark: literal(constants[int(mark[1])].value), found.sql), found.labels)

    def _find(self, key: Hashable) -> Query | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _keep(self, key: Hashable, query: Query) -> None:
        with self._lock:
            self._kept[key] = query
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)


def _depends(text: str, tokens: list[Token]) -> bool:
    """Whether the translation is of this moment or this session only."""
    if any(mark in text for mark in _MARKS) or INFORMATION_SCHEMA in text.lower():
        return True
    return any(
        token.is_symbol("@", "@@") or (following.is_symbol("(") and token.value.lower() in translate.FACTS)
        for token, following in itertools.pairwise(tokens)
    )


def _constants(text: str, tokens: list[Token]) -> list[Token]:
    """Whole texts that something is compared with, behind a comparison or in the list of an IN, but for dates and times."""
    found: list[int] = []
    for place, token in enumerate(tokens):
        if (
            token.kind is Kind.STRING
            and _is_compared(tokens, place, found)
            and _is_plain(text[token.start : token.end])
        ):
            found.append(place)
    return [tokens[place] for place in found]


def _is_plain(lexeme: str) -> bool:
    return _PLAIN.fullmatch(lexeme) is not None and functions.moment_of(lexeme[1:-1]) is None


def _is_compared(tokens: list[Token], place: int, found: list[int]) -> bool:
    before, behind = tokens[max(0, place - 1)], tokens[place + 1]
    if not (behind.kind is Kind.END or behind.is_symbol(")", ",") or behind.is_word(*_ENDS)):
        return False
    if before.is_symbol(*_COMPARE):
        return True
    listed = before.is_symbol("(") and tokens[place - 2].is_word("IN")
    return listed or (before.is_symbol(",") and place - 2 in found)


def _marked(text: str, constants: list[Token]) -> str:
    """The text with `'<mark>number<mark>'` for each constant."""
    parts, at = [], 0
    for number, token in enumerate(constants):
        parts += [text[at : token.start], f"'{_MARKS[0]}{number}{_MARKS[1]}'"]
        at = token.end
    return "".join([*parts, text[at:]])


def _translated(shape: str, scope: Scope) -> Query | None:
    """None if it is refused, which must be said of the text itself, or a constant is in a column's name."""
    try:
        query = translate.query(shape, scope)
    except errors.SqlError:
        return None
    named = any(mark in label for label in query.labels or () for mark in _MARKS)
    return None if named else query
