"""Which parts of a query's tree are understood, and the ones that mean another thing in DuckDB.

A node whose class is in no list here is refused: sqlglot reads far more than Doris allows, and more than was tested.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from sinks.doris_local import ddl_table, errors, functions, schema
from sinks.doris_local.reserved import RESERVED

STRUCTURE = {
    exp.Select, exp.Union, exp.Except, exp.Intersect, exp.Subquery, exp.With, exp.CTE, exp.From, exp.Join, exp.Table,
    exp.TableAlias, exp.Alias, exp.Where, exp.Group, exp.Rollup, exp.Cube, exp.GroupingSets, exp.Having, exp.Order,
    exp.Ordered, exp.Limit, exp.Offset, exp.Distinct, exp.Star, exp.Column, exp.Identifier, exp.Literal, exp.Null,
    exp.Boolean, exp.Paren, exp.Tuple, exp.Var, exp.Values, exp.Window, exp.WindowSpec,
}  # fmt: skip
OPERATIONS = {
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT,
    exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.Is, exp.In, exp.Between, exp.Like, exp.RegexpLike, exp.Exists, exp.Case,
    exp.If, exp.Cast, exp.DataType, exp.DataTypeParam, exp.Interval, exp.Extract, exp.BitwiseAnd, exp.BitwiseOr,
    exp.BitwiseNot,
}  # fmt: skip
CALLS = {
    exp.Count, exp.Sum, exp.Min, exp.Max, exp.Avg, exp.RowNumber, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue,
    exp.Coalesce, exp.Nullif, exp.Grouping, exp.CurrentTimestamp, exp.CurrentDate,
}  # fmt: skip
KNOWN = STRUCTURE | OPERATIONS | CALLS
JOINS = {(side, kind) for side in ("", "LEFT", "RIGHT", "FULL") for kind in ("", "OUTER")} | {
    ("", "INNER"), ("", "CROSS"), ("LEFT", "SEMI"), ("LEFT", "ANTI"),
}  # fmt: skip
# What sqlglot reads of other dialects without a node of its own.
_FOREIGN_ARGS: dict[type[exp.Expression], tuple[str, ...]] = {
    exp.Distinct: ("on",),
    exp.Group: ("all", "totals"),
    exp.SetOperation: ("by_name",),
    exp.Between: ("symmetric",),
}
EXTRACTED = {"YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"}


def check(node: exp.Expression, prefix: str) -> None:
    """Raises SqlError if the node is not understood; calls of listed functions carry the prefix."""
    if isinstance(node, exp.Anonymous) and str(node.this).startswith(prefix):
        return
    if type(node) not in KNOWN:
        raise _unknown(node)
    if isinstance(node, exp.Identifier) and not node.quoted and node.name.upper() in RESERVED:
        raise errors.refused(f"mismatched input '{node.name}': it is a reserved word, write `{node.name}`")
    if isinstance(node, exp.Join) and ((node.side, node.kind) not in JOINS or node.method):
        raise errors.unsupported(" ".join(filter(None, (node.method, node.side, node.kind, "JOIN"))))
    for kind, args in _FOREIGN_ARGS.items():
        if isinstance(node, kind) and any(node.args.get(arg) for arg in args):
            raise errors.unsupported(f"{kind.__name__.upper()} .. {args[0].upper().replace('_', ' ')}")
    if isinstance(node, exp.Extract) and node.name.upper() not in EXTRACTED:
        raise errors.unsupported(f"EXTRACT({node.name.upper()} ..)")


def _unknown(node: exp.Expression) -> errors.SqlError:
    if isinstance(node, exp.Anonymous):
        return no_function(str(node.this))
    if isinstance(node, exp.Func) and not isinstance(node, (exp.Binary, exp.Unary)):
        return no_function(node.sql_name())
    return errors.unsupported(f"'{node.sql(dialect='doris')}' ({type(node).__name__})")


def no_function(name: str) -> errors.SqlError:
    return errors.refused(
        f"Can not found function '{name.lower()}' (the local store knows a subset of Doris' functions)"
    )


# -- casts


def _cast(node: exp.Expression) -> exp.Expression:
    """A cast that fails is null on Doris, and to an integer it cuts off."""
    type_ = cast_type(node.args["to"])
    value = node.this
    if type_.name in schema.INTEGERS:
        return functions.macro(f"to_{type_.name}", value)
    if type_.name in schema.STRINGS:
        text = functions.macro("to_text", value)
        if type_.name == "text" or type_ == schema.Type("varchar", (65533,)):
            return text
        return exp.Anonymous(this="left", expressions=[text, exp.Literal.number(type_.args[0])])
    if type_.name == "date":
        return functions.macro("to_date", value)
    if type_.name == "json":
        return functions.macro("json_parse", value)
    return exp.TryCast(this=value, to=exp.DataType.build(type_.duck, dialect="duckdb"))


_SQLGLOT_TYPES = {"INT128": "LARGEINT", "TIMESTAMP": "DATETIME", "TIMESTAMPTZ": "DATETIME", "SIGNED": "BIGINT"}


def cast_type(node: exp.DataType) -> schema.Type:
    """The Doris type of a cast. Raises SqlError for one that is not kept."""
    text = node.sql(dialect="doris").upper()
    if text in ("CHAR", "VARCHAR"):
        return schema.Type("text")
    return ddl_table.parse_type(_SQLGLOT_TYPES.get(text, text))


# -- arithmetic


def _int_div(node: exp.Expression) -> exp.Expression:
    return functions.macro("div", node.this, node.expression)


def _shift_or_same(node: exp.Expression) -> exp.Expression:
    verb = "add" if isinstance(node, exp.Add) else "sub"
    if isinstance(node.expression, exp.Interval):
        return functions.shift(node.this, node.expression, verb)
    if isinstance(node.this, exp.Interval) and verb == "add":
        return functions.shift(node.expression, node.this, verb)
    return node


def _multiply(node: exp.Expression) -> exp.Expression:
    """Doris widens the product of INTs to BIGINT; DuckDB refuses one that does not fit INT. A constant widens it here."""
    for side in (node.this, node.expression):
        if isinstance(side, exp.Literal) and not side.is_string and side.this.isdigit():
            side.replace(exp.cast(side.copy(), exp.DataType.build("BIGINT", dialect="duckdb"), copy=False))
    return node


# -- comparisons


def _compare(node: exp.Expression) -> exp.Expression:
    """Give constant texts that are times the type of a time, unless they are compared with a text."""
    if isinstance(node, exp.Between):
        node.set("low", _moment(node.args["low"], node.this))
        node.set("high", _moment(node.args["high"], node.this))
    elif isinstance(node, exp.In):
        node.set("expressions", [_moment(e, node.this) for e in node.expressions])
    else:
        left, right = node.this, node.expression
        node.set("this", _moment(left, right))
        node.set("expression", _moment(right, left))
    return node


def _moment(value: exp.Expression, other: exp.Expression) -> exp.Expression:
    if isinstance(other, exp.Literal):
        return value
    type_ = functions.moment_type(value)
    if type_ in (None, "DATE"):
        if not _is_formatted_time(value):
            return value
        moment: exp.Expression = exp.TryCast(this=value.copy(), to=exp.DataType.build("TIMESTAMP", dialect="duckdb"))
    else:
        moment = functions.as_moment(value)
    return functions.macro("at", other.copy(), moment, value.copy())


def _is_formatted_time(value: exp.Expression) -> bool:
    return isinstance(value, exp.Anonymous) and str(value.this) in ("fn.from_unixtime", "fn.date_format")


def _like(node: exp.Expression) -> exp.Expression:
    """Doris' escape character is the backslash; DuckDB has none unless told."""
    return exp.Escape(this=node.copy(), expression=exp.Literal.string("\\"))


def _column(node: exp.Expression) -> exp.Expression:
    """`db.table.column`: in DuckDB the table goes by its alias alone."""
    node.set("db", None)
    node.set("catalog", None)
    return node


def _extract(node: exp.Expression) -> exp.Expression:
    return functions.macro(node.name.lower(), functions.as_moment(node.expression))


REWRITERS: dict[type[exp.Expression], Callable[[exp.Expression], exp.Expression]] = {
    exp.Cast: _cast,
    exp.IntDiv: _int_div,
    exp.Add: _shift_or_same,
    exp.Sub: _shift_or_same,
    exp.Mul: _multiply,
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.Between, exp.In), _compare),
    exp.Like: _like,
    exp.Column: _column,
    exp.Extract: _extract,
    exp.CurrentTimestamp: lambda _: functions.macro("now_s"),
    exp.CurrentDate: lambda _: functions.macro("today"),
}
