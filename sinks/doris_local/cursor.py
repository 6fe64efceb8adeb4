"""A walk over a statement's tokens, for everything that is read by recursive descent."""

from __future__ import annotations

import msgspec

from sinks.doris_local import errors
from sinks.doris_local.reserved import RESERVED
from sinks.doris_local.tokens import Kind, Token, syntax_error, tokenize


class Name(msgspec.Struct, frozen=True):
    """A possibly qualified name; `database` None means the session's."""

    database: str | None
    name: str

    def within(self, database: str | None) -> str:
        """Its database, or else the given one, the session's. Raises SqlError if there is neither."""
        chosen = self.database or database
        if chosen is None:
            raise errors.no_database()
        return chosen


class Cursor:
    """Stands before a token. `take_..` steps over what is there or says that it is not; the rest raises SqlError."""

    def __init__(self, text: str, tokens: list[Token] | None = None) -> None:
        self.text = text
        self.tokens = tokenize(text) if tokens is None else tokens
        self.at = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def unexpected(self, expected: str) -> errors.SqlError:
        token = self.token
        shown = self.text[token.start : token.end] or "<EOF>"
        return syntax_error(self.text, token.start, f"mismatched input '{shown}' expecting {expected}")

    def take(self, *words: str) -> bool:
        """Step over these words if they come next, all or none."""
        ahead = self.tokens[self.at : self.at + len(words)]
        if len(ahead) < len(words) or not all(t.is_word(w) for t, w in zip(ahead, words, strict=True)):
            return False
        self.at += len(words)
        return True

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.take(word):
                raise self.unexpected(word)

    def take_symbol(self, symbol: str) -> bool:
        found = self.token.is_symbol(symbol)
        self.at += found
        return found

    def expect_symbol(self, symbol: str) -> None:
        if not self.take_symbol(symbol):
            raise self.unexpected(f"'{symbol}'")

    def value(self, *kinds: Kind, expected: str) -> str:
        if self.token.kind not in kinds:
            raise self.unexpected(expected)
        value = self.token.value
        self.at += 1
        return value

    def identifier(self) -> str:
        if self.token.kind is Kind.WORD and self.token.value.upper() in RESERVED:
            raise self.unexpected("identifier")
        return self.value(Kind.WORD, Kind.NAME, expected="identifier")

    def string(self) -> str:
        return self.value(Kind.STRING, expected="STRING_LITERAL")

    def integer(self) -> int:
        value = self.value(Kind.NUMBER, expected="INTEGER_VALUE")
        if not value.isdigit():
            self.at -= 1
            raise self.unexpected("INTEGER_VALUE")
        return int(value)

    def names(self) -> tuple[str, ...]:
        self.expect_symbol("(")
        names = [self.identifier()]
        while self.take_symbol(","):
            names.append(self.identifier())
        self.expect_symbol(")")
        return tuple(names)

    def qualified(self) -> Name:
        parts = [self.identifier()]
        while self.take_symbol("."):
            parts.append(self.identifier())
        if len(parts) == 3 and parts[0] == "internal":
            del parts[0]
        if len(parts) > 2:
            raise errors.unsupported(f"catalog '{parts[0]}'")
        return Name(parts[0] if len(parts) == 2 else None, parts[-1])

    def end(self) -> None:
        """Nothing may follow but a semicolon."""
        self.take_symbol(";")
        if self.token.kind is not Kind.END:
            raise self.unexpected("<EOF>")
