"""Which parts of a query's tree are understood, and the ones that mean another thing in DuckDB.

A node whose class is in no list here is refused: sqlglot reads far more than Doris allows, and more than was tested.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from sinks.doris_local import errors

AFTER_SELECT_LIST = (
    "FROM",
    "WHERE",
    "GROUP",
    "HAVING",
    "ORDER",
    "LIMIT",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "WINDOW",
    "QUALIFY",
    "INTO",
)
ENDS_EXPRESSION = ("END", "NULL", "TRUE", "FALSE")
OPERATORS = ("AND", "OR", "NOT", "DIV", "IN", "LIKE", "IS", "BETWEEN", "REGEXP", "RLIKE", "MOD", "XOR", "DISTINCT")

STRUCTURE = {
    exp.Select, exp.Union, exp.Except, exp.Intersect, exp.Subquery, exp.With, exp.CTE, exp.From, exp.Join, exp.Table,
    exp.TableAlias, exp.Alias, exp.Where, exp.Group, exp.Rollup, exp.Cube, exp.GroupingSets, exp.Having, exp.Order,
    exp.Ordered, exp.Limit, exp.Offset, exp.Distinct, exp.Star, exp.Column, exp.Identifier, exp.Literal, exp.Null,
    exp.Boolean, exp.Paren, exp.Tuple, exp.Var, exp.Values, exp.Window, exp.WindowSpec,
}  # fmt: skip
OPERATIONS = {
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT,
    exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.Is, exp.In, exp.Between, exp.Like, exp.RegexpLike, exp.Exists, exp.Case,
    exp.If, exp.Cast, exp.TryCast, exp.DataType, exp.DataTypeParam, exp.Interval, exp.Extract, exp.Any,
    exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseNot,
}  # fmt: skip
CALLS = {
    exp.Count, exp.Sum, exp.Min, exp.Max, exp.Avg, exp.RowNumber, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue,
    exp.Coalesce, exp.Nullif, exp.Grouping, exp.CurrentTimestamp, exp.CurrentDate,
}  # fmt: skip
KNOWN = STRUCTURE | OPERATIONS | CALLS


def check(node: exp.Expression) -> None:
    """Raises SqlError if the node is not understood."""
    if type(node) in KNOWN:
        if isinstance(node, exp.Join) and (node.side, node.kind) not in JOINS:
            raise errors.unsupported(f"{node.side} {node.kind} JOIN".strip())
        return
    if isinstance(node, exp.Anonymous):
        if str(node.this).startswith("fn__"):
            return
        raise no_function(str(node.this))
    if isinstance(node, exp.Func):
        raise no_function(node.sql_name())
    raise errors.unsupported(f"'{node.sql(dialect='doris')}' ({type(node).__name__})")


JOINS = {
    (side, kind) for side in ("", "LEFT", "RIGHT", "FULL") for kind in ("", "OUTER", "INNER", "CROSS", "SEMI", "ANTI")
}


def no_function(name: str) -> errors.SqlError:
    return errors.refused(
        f"Can not found function '{name.lower()}' (the local store knows a subset of Doris' functions)"
    )


def split_relation(relation: str) -> list[str]:
    """The parts of a quoted, dotted DuckDB name."""
    return [part.strip('"').replace('""', '"') for part in relation.split(".", 2)]


def _cast(node: exp.Expression) -> exp.Expression:
    return exp.TryCast(this=node.this, to=node.args["to"])


REWRITERS: dict[type[exp.Expression], Callable[[exp.Expression], exp.Expression]] = {
    exp.Cast: _cast,
}
