"""Doris' lexical rules: words, names in backquotes, strings in either quote, numbers, symbols; comments are dropped.

Every token knows its place in the text, so that callers can cut original text out (a view's query, a column's label)
or rewrite single words and leave the rest alone.
"""

from __future__ import annotations

import enum
import re
from typing import NamedTuple

from sinks.doris_local import errors

LEXEME = re.compile(
    r"""
      (?P<space>\s+ | --[^\n]* | /\*.*?\*/)
    | (?P<string>'(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*")
    | (?P<name>`(?:[^`]|``)*`)
    | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<word>[^\W\d][\w$]*)
    | (?P<symbol><=>|<>|!=|<=|>=|\|\||&&|->>|->|:=|@@|[-+*/%=<>(),.;\[\]{}?~^&|!:@])
    """,
    re.VERBOSE | re.DOTALL,
)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a", "%": "\\%", "_": "\\_"}


class Kind(enum.Enum):
    WORD = "word"
    NAME = "name"
    STRING = "string"
    NUMBER = "number"
    SYMBOL = "symbol"
    END = "end"


class Token(NamedTuple):
    """`value` is unquoted and unescaped; `start` and `end` are offsets into the statement's text."""

    kind: Kind
    value: str
    start: int
    end: int

    def is_word(self, *words: str) -> bool:
        """Whether this is one of these keywords, in any case."""
        return self.kind is Kind.WORD and self.value.upper() in words

    def is_symbol(self, *symbols: str) -> bool:
        return self.kind is Kind.SYMBOL and self.value in symbols


def tokenize(text: str) -> list[Token]:
    """All tokens of `text` and one END. Raises SqlError at the first character that begins none."""
    tokens = []
    position = 0
    while position < len(text):
        match = LEXEME.match(text, position)
        if match is None:
            raise syntax_error(text, position, f"unrecognized input {text[position]!r}")
        kind = match.lastgroup
        if kind is not None and kind != "space":
            tokens.append(Token(Kind(kind), _value(kind, match.group()), position, match.end()))
        position = match.end()
    tokens.append(Token(Kind.END, "<EOF>", position, position))
    return tokens


def _value(kind: str, lexeme: str) -> str:
    if kind == "string":
        return unescape(lexeme[1:-1], lexeme[0])
    if kind == "name":
        return lexeme[1:-1].replace("``", "`")
    return lexeme


def unescape(body: str, quote: str) -> str:
    """The text that a quoted string stands for: backslash escapes as in MySQL, and the doubled quote."""
    if "\\" not in body and quote not in body:
        return body
    return re.sub(
        rf"\\(.)|{quote}{quote}",
        lambda match: quote if match[1] is None else ESCAPES.get(match[1], match[1]),
        body,
        flags=re.DOTALL,
    )


def quote_string(text: str) -> str:
    """`text` as a Doris string in double quotes, as SHOW CREATE TABLE prints it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def quote_name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def syntax_error(text: str, position: int, what: str) -> errors.SqlError:
    """Doris names the line (from 1) and the column (from 0)."""
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1)
    return errors.refused(f"{what}(line {line}, pos {column})")
