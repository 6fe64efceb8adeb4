"""Doris' queries into DuckDB's.

Three steps. Calls of functions in the list are renamed in the text (`date_format(` to `fn__date_format(`), so that
sqlglot leaves name and arguments as they are instead of guessing at a meaning; sqlglot then parses the text as Doris;
and the tree is walked once: every kind of node must be in the list, tables are looked up, and what means another thing
in DuckDB is replaced. Nothing passes through unknown.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import sqlglot
from sqlglot import exp

from sinks.doris_local import errors, functions, nodes
from sinks.doris_local.tokens import Kind, Token, tokenize

PREFIX = "fn__"

Resolve = Callable[[str | None, str], str]


class Query(msgspec.Struct, frozen=True):
    """`sql` for DuckDB; `labels` are the result's column names, None if DuckDB's are right (a star is among them)."""

    sql: str
    labels: list[str] | None


def query(text: str, resolve: Resolve) -> Query:
    """A SELECT. `resolve(database or None, table)` gives the DuckDB relation of a table or raises SqlError."""
    tokens = tokenize(text)
    tree = _parse(text, tokens)
    if not isinstance(tree, exp.Query):
        raise errors.unsupported(f"statement {tokens[0].value.upper()}")
    return Query(_render(_rewrite(tree, resolve)), _labels(text, tokens))


def condition(text: str) -> str:
    """A boolean expression over columns, without tables."""
    tokens = tokenize(text)
    tree = _parse(f"SELECT {text}", tokenize(f"SELECT {text}"))
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or len(tokens) < 2:
        raise errors.refused(f"'{text}' is no expression")
    return _render(_rewrite(tree, _no_table).expressions[0])


def _no_table(database: str | None, table: str) -> str:
    raise errors.unsupported("a subquery here")


def _parse(text: str, tokens: list[Token]) -> exp.Expression:
    try:
        trees = sqlglot.parse(_rename_calls(text, tokens), read="doris")
    except sqlglot.errors.SqlglotError as error:
        raise errors.refused(_first_line(error)) from error
    trees = [tree for tree in trees if tree is not None]
    if len(trees) != 1:
        raise errors.refused("exactly one statement is expected")
    tree = trees[0]
    assert isinstance(tree, exp.Expression), "sqlglot parses statements into expressions"
    return tree


def _first_line(error: Exception) -> str:
    """sqlglot's message without its excerpt and terminal colours."""
    return f"syntax error: {str(error).splitlines()[0]}"


def _rename_calls(text: str, tokens: list[Token]) -> str:
    parts, done = [], 0
    for token, following in zip(tokens, tokens[1:], strict=False):
        if token.kind is Kind.WORD and following.is_symbol("(") and token.value.lower() in functions.LISTED:
            parts += [text[done : token.start], PREFIX, token.value.lower()]
            done = token.end
    return "".join(parts) + text[done:]


def _labels(text: str, tokens: list[Token]) -> list[str] | None:
    """The column names as Doris gives them: the alias, the column's name, or else the expression's own text."""
    labels: list[str] = []
    at = next((i for i, t in enumerate(tokens) if t.is_word("SELECT")), len(tokens))
    depth, item = 0, []
    for token in tokens[at + 1 :]:
        depth += token.is_symbol("(", "[") - token.is_symbol(")", "]")
        ends = token.kind is Kind.END or depth < 0 or (depth == 0 and token.is_word(*nodes.AFTER_SELECT_LIST))
        if ends or (depth == 0 and token.is_symbol(",", ";")):
            if not item or item[-1].is_symbol("*"):
                return None
            labels.append(_label(text, item))
            item = []
            if ends or token.is_symbol(";"):
                break
        elif not (not item and token.is_word("DISTINCT", "ALL")):
            item.append(token)
    return labels


def _label(text: str, item: list[Token]) -> str:
    last, before = item[-1], item[-2] if len(item) > 1 else None
    names = last.kind in (Kind.WORD, Kind.NAME)
    if before is None:
        return last.value if names else text[last.start : last.end]
    if before.is_word("AS") or (names and before.is_symbol(".")):
        return last.value
    aliased = (names and not last.is_word(*nodes.ENDS_EXPRESSION)) or last.kind is Kind.STRING
    if aliased and (before.kind in (Kind.NAME, Kind.NUMBER, Kind.STRING, Kind.WORD) or before.is_symbol(")", "]")):
        if not (before.kind is Kind.WORD and before.is_word(*nodes.OPERATORS)):
            return last.value
    return text[item[0].start : last.end]


def _render(tree: exp.Expression) -> str:
    try:
        return tree.sql(dialect="duckdb", unsupported_level=sqlglot.ErrorLevel.RAISE)
    except sqlglot.errors.UnsupportedError as error:
        raise errors.unsupported(_first_line(error)) from error


def _rewrite(tree: exp.Expression, resolve: Resolve) -> exp.Expression:
    for node in list(tree.walk()):
        nodes.check(node)
        if isinstance(node, exp.Table):
            _place(node, resolve)
    return tree.transform(_replace, copy=False)


def _place(table: exp.Table, resolve: Resolve) -> None:
    """Put the DuckDB relation in the place of a table's name, keeping the name as alias."""
    parts = [part.name for part in table.parts]
    if len(parts) == 3 and parts[0] == "internal":
        del parts[0]
    if len(parts) > 2:
        raise errors.unsupported(f"catalog '{parts[0]}'")
    if len(parts) == 1 and parts[0] in _common_tables(table):
        return
    relation = resolve(parts[0] if len(parts) == 2 else None, parts[-1])
    if not table.alias:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(parts[-1], quoted=True)))
    catalog, schema_name, name = (exp.to_identifier(p, quoted=True) for p in nodes.split_relation(relation))
    table.set("catalog", catalog)
    table.set("db", schema_name)
    table.set("this", name)


def _common_tables(table: exp.Table) -> set[str]:
    """Names that WITH gives to queries, at the place of this table."""
    names = set()
    node: exp.Expression | None = table
    while node is not None:
        with_ = node.args.get("with_") or node.args.get("with")
        if isinstance(with_, exp.With):
            names |= {cte.alias for cte in with_.expressions}
        node = node.parent
    return names


def _replace(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.Anonymous):
        name = str(node.this)
        if name.startswith(PREFIX):
            return functions.call(name.removeprefix(PREFIX), node.expressions)
    rewriter = nodes.REWRITERS.get(type(node))
    return rewriter(node) if rewriter else node
