"""Doris' queries into DuckDB's.

Three steps. Calls of listed functions are renamed in the text (`date_format(` to `fn__date_format(`), so that sqlglot
leaves name and arguments as they are instead of guessing at a meaning; sqlglot then parses the text as Doris; and the
tree is walked: every kind of node must be in the list, tables are looked up, and what means another thing in DuckDB is
replaced. Nothing passes through unknown.

sqlglot's parser and generator are used from outside only: with its compiled build installed they cannot be subclassed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
import sqlglot
from sqlglot import exp

from sinks.doris_local import aliases, errors, functions, headings, nodes
from sinks.doris_local.tokens import Kind, Token, tokenize

PREFIX = "fn__"
# Calls whose value is known before the query runs; see Scope.facts.
FACTS = frozenset({"version", "database", "schema", "user", "current_user", "session_user", "connection_id"})

Resolve = Callable[[str | None, str], tuple[str, str, str]]


class Scope(msgspec.Struct, frozen=True):
    """What a query may refer to.

    `resolve(database or None, table)` gives catalog, schema and name of a table in DuckDB, or raises SqlError;
    `columns(database or None, table)` its column names in lower case. `facts` are the values of `FACTS`;
    `variable(name)` that of `@@name`.
    """

    resolve: Resolve
    columns: aliases.Columns
    facts: Mapping[str, str | int | None] = {}
    variable: Callable[[str], str] | None = None


class Query(msgspec.Struct, frozen=True):
    """`sql` for DuckDB; `labels` are the result's column names, None if DuckDB's are right (a star is among them)."""

    sql: str
    labels: list[str] | None


def query(text: str, scope: Scope) -> Query:
    """A SELECT. Raises SqlError."""
    tokens = tokenize(text)
    tree = _parse(tokens, text)
    if not isinstance(tree, exp.Query):
        raise errors.unsupported(f"statement {tokens[0].value.upper()}")
    return Query(_render(_rewrite(tree, scope)), headings.labels(text, tokens))


def condition(text: str) -> str:
    """A boolean expression over columns, without tables."""
    text = f"SELECT {text}"
    tree = _parse(tokenize(text), text)
    if (
        not isinstance(tree, exp.Select)
        or len(list(tree.find_all(exp.Query, exp.From))) > 1
        or len(tree.expressions) != 1
    ):
        raise errors.refused(f"'{text}' is no expression over columns")
    return _render(_rewrite(tree, Scope(_no_table, lambda *_: set())).expressions[0])


def _no_table(database: str | None, table: str) -> tuple[str, str, str]:
    raise errors.unsupported("a table here")


def _parse(tokens: list[Token], text: str) -> exp.Expression:
    try:
        trees = sqlglot.parse(_prepared(tokens, text), read="doris")
    except sqlglot.errors.SqlglotError as error:
        raise errors.refused(_first_line(error)) from error
    trees = [tree for tree in trees if tree is not None]
    if len(trees) != 1:
        raise errors.refused("exactly one statement is expected")
    tree = trees[0]
    assert isinstance(tree, exp.Expression), "sqlglot parses statements into expressions"
    return tree


def _first_line(error: Exception) -> str:
    """sqlglot's message without its excerpt of the text."""
    return f"syntax error: {str(error).splitlines()[0]}"


def _prepared(tokens: list[Token], text: str) -> str:
    """The text for sqlglot: without comments and hints, listed calls renamed."""
    parts = []
    for place, token in enumerate(tokens[:-1]):
        lexeme = text[token.start : token.end]
        if token.kind is Kind.WORD:
            name = token.value.lower()
            if tokens[place + 1].is_symbol("(") and (name in functions.LISTED or name in FACTS):
                lexeme = PREFIX + name
            elif name == "largeint":
                lexeme = "INT128"
        elif token.is_symbol(":", ":="):
            raise errors.refused(f"mismatched input '{token.value}'")
        elif token.is_symbol("||"):
            raise errors.unsupported("'||', which is OR or concat depending on sql_mode: write one of them; it")
        parts.append(lexeme)
    return " ".join(parts)


def _render(tree: exp.Expression) -> str:
    try:
        return str(tree.sql(dialect="duckdb", identify=True, unsupported_level=sqlglot.ErrorLevel.RAISE))
    except sqlglot.errors.UnsupportedError as error:
        raise errors.unsupported(_first_line(error)) from error


def _rewrite(tree: exp.Expression, scope: Scope) -> exp.Expression:
    """The tree with every node replaced that must be, children before parents."""
    walked = list(tree.walk())
    for node in walked:
        if not isinstance(node, exp.SessionParameter):
            nodes.check(node, PREFIX)
    aliases.check(tree, scope.columns)
    for node in reversed(walked):
        new = _replace(node, scope)
        if new is node:
            continue
        if node.parent is None:
            tree = new
        else:
            node.replace(new)
    return tree


def _replace(node: exp.Expression, scope: Scope) -> exp.Expression:
    if isinstance(node, exp.Table):
        _place(node, scope.resolve)
        return node
    if isinstance(node, exp.SessionParameter):
        if scope.variable is None:
            raise errors.unsupported("a variable here")
        value = scope.variable(node.name)
        return exp.Literal.number(value) if value.isdigit() else exp.Literal.string(value)
    if isinstance(node, exp.Anonymous):
        name = str(node.this).removeprefix(PREFIX)
        return _fact(scope, name) if name in FACTS else functions.call(name, node.expressions)
    rewriter = nodes.REWRITERS.get(type(node))
    return rewriter(node) if rewriter else node


def _fact(scope: Scope, name: str) -> exp.Expression:
    value = scope.facts.get(name)
    if value is None:
        return exp.Null()
    return exp.Literal.number(value) if isinstance(value, int) else exp.Literal.string(value)


def _place(table: exp.Table, resolve: Resolve) -> None:
    """Put the DuckDB relation in the place of a table's name, keeping the name as alias."""
    parts = [part.name for part in table.parts]
    if len(parts) == 3 and parts[0] == "internal":
        del parts[0]
    if len(parts) > 2:
        raise errors.unsupported(f"catalog '{parts[0]}'")
    if len(parts) == 1 and parts[0] in _common_tables(table):
        return
    found = resolve(parts[0] if len(parts) == 2 else None, parts[-1])
    if not table.alias:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(parts[-1], quoted=True)))
    for place, part in zip(("catalog", "db", "this"), found, strict=True):
        table.set(place, exp.to_identifier(part, quoted=True))


def _common_tables(table: exp.Table) -> set[str]:
    """Names that WITH gives to queries, at the place of this table."""
    names = set()
    node: exp.Expression | None = table
    while node is not None:
        with_ = node.args.get("with_")
        if isinstance(with_, exp.With):
            names |= {cte.alias for cte in with_.expressions}
        node = node.parent
    return names
