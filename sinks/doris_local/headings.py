"""The column names of a result, read from the query's own text: alias, column name, or else the expression as written.

DuckDB would name them after the translated expressions.
"""

from __future__ import annotations

from sinks.doris_local.tokens import Kind, Token

_ENDS_LIST = (
    "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "WINDOW", "QUALIFY", "INTO",
)  # fmt: skip
_ENDS_EXPRESSION = ("END", "NULL", "TRUE", "FALSE")
_NEEDS_OPERAND = ("AND", "OR", "NOT", "DIV", "IN", "LIKE", "IS", "BETWEEN", "REGEXP", "RLIKE", "DISTINCT", "INTERVAL")


def labels(text: str, tokens: list[Token]) -> list[str] | None:
    """Names of the outermost (of a union the first) SELECT's columns; None if a star is among them."""
    found: list[str] = []
    for item in _items(tokens):
        if item[-1].is_symbol("*"):
            return None
        found.append(_label(text, item))
    return found or None


def _items(tokens: list[Token]) -> list[list[Token]]:
    depth = 0
    items: list[list[Token]] = [[]]
    for token in tokens[_first_select(tokens) :]:
        depth += token.is_symbol("(", "[") - token.is_symbol(")", "]")
        over = token.kind is Kind.END or depth < 0 or token.is_symbol(";")
        if over or (depth == 0 and token.is_word(*_ENDS_LIST)):
            break
        if depth == 0 and token.is_symbol(","):
            items.append([])
        elif items[-1] or not token.is_word("DISTINCT", "ALL"):
            items[-1].append(token)
    return [item for item in items if item]


def _first_select(tokens: list[Token]) -> int:
    """Where the outermost SELECT's list begins: behind the first SELECT that is not inside a WITH's parentheses."""
    depth, opened = 0, tokens[0].is_symbol("(")
    for place, token in enumerate(tokens):
        if token.is_word("SELECT") and (depth == 0 or opened):
            return place + 1
        depth += token.is_symbol("(") - token.is_symbol(")")
    return len(tokens)


def _label(text: str, item: list[Token]) -> str:
    last = item[-1]
    named = last.kind in (Kind.WORD, Kind.NAME)
    if len(item) == 1:
        return last.value if named else text[last.start : last.end]
    before = item[-2]
    if before.is_word("AS") or (named and before.is_symbol(".")):
        return last.value
    aliased = (named and not last.is_word(*_ENDS_EXPRESSION)) or last.kind is Kind.STRING
    if aliased and _ends_operand(before):
        return last.value
    return text[item[0].start : last.end]


def _ends_operand(token: Token) -> bool:
    """Whether an expression can end here, so that a name behind it is its alias."""
    if token.kind is Kind.SYMBOL:
        return token.is_symbol(")", "]")
    return not token.is_word(*_NEEDS_OPERAND)
