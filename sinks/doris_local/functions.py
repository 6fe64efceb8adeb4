"""The functions a query may call, and what each becomes in DuckDB.

Three kinds: those DuckDB has with the same meaning (`PLAIN`), macros of `macros` under their own or another name, and
those whose call must be built, because arguments are constants of Doris' own form or the call is no plain call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from sinks.doris_local import errors, formats, macros

Builder = Callable[[list[exp.Expression]], exp.Expression]

# Doris' name: DuckDB's. The arguments are the same, and so is the meaning, nulls included.
PLAIN = {
    **{
        name: name
        for name in (
            "abs", "ceil", "floor", "round", "sign", "exp", "cbrt", "pi", "radians", "degrees", "sin", "cos", "tan",
            "any_value", "stddev_samp", "var_samp", "corr", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile",
            "json_object", "json_array", "max_by", "min_by",
        )
    },
    "ceiling": "ceil",
    "random": "random",
    "rand": "random",
    "stddev": "stddev_pop",
    "stddev_pop": "stddev_pop",
    "std": "stddev_pop",
    "variance": "var_pop",
    "var_pop": "var_pop",
    "variance_samp": "var_samp",
    "ndv": "approx_count_distinct",
    "approx_count_distinct": "approx_count_distinct",
}  # fmt: skip

# Doris' name: the macro's, where they differ.
RENAMED = {
    "date": "to_date",
    "pow": "power",
    "fpow": "power",
    "dpow": "power",
    "fmod": "mod",
    "char_length": "char_length",
    "character_length": "char_length",
    "lcase": "lower",
    "ucase": "upper",
    "substr": "substring",
    "mid": "substring",
    "strleft": "left",
    "strright": "right",
    "json_extract": "json_part",
    "jsonb_extract": "json_part",
    "json_extract_string": "json_text",
    "jsonb_extract_string": "json_text",
    "get_json_string": "json_text",
    "json_extract_int": "json_int",
    "jsonb_extract_int": "json_int",
    "get_json_int": "json_int",
    "json_extract_bigint": "json_bigint",
    "jsonb_extract_bigint": "json_bigint",
    "get_json_bigint": "json_bigint",
    "json_extract_double": "json_double",
    "jsonb_extract_double": "json_double",
    "get_json_double": "json_double",
    "json_extract_bool": "json_bool",
    "jsonb_extract_bool": "json_bool",
    "get_json_bool": "json_bool",
    "jsonb_parse": "json_parse",
}
_INTERNAL = {
    "at", "div", "json_part", "json_text", "json_int", "json_bigint", "json_double", "json_bool", "now_s", "now_ms",
    "now_us", "today", "str_to_datetime", "str_to_day", "to_text", "to_tinyint", "to_smallint", "to_int", "to_bigint",
    "to_largeint",
}  # fmt: skip
MACROS = {**{name: name for name in macros.forms_by_name() if name not in _INTERNAL}, **RENAMED}

UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond")
TRUNC_UNITS = UNITS[:8]
_MOMENT = re.compile(r"\d{4}-\d{1,2}-\d{1,2}(?:(?P<time>[ T]\d{1,2}:\d{1,2}:\d{1,2})(?P<fraction>\.\d{1,6})?)?")


def call(name: str, args: list[exp.Expression]) -> exp.Expression:
    """The DuckDB expression for a call of a listed function. Raises SqlError if the arguments cannot be."""
    if name in BUILDERS:
        return BUILDERS[name](args)
    if name in PLAIN:
        return _call(PLAIN[name], *args)
    made = MACROS[name]
    return macro(made, *(map(as_moment, args) if made in macros.TEMPORAL else args))


def macro(name: str, *args: exp.Expression) -> exp.Expression:
    return _call(f"fn.{name}", *args)


def _call(name: str, *args: exp.Expression) -> exp.Expression:
    return exp.Anonymous(this=name, expressions=list(args))


def as_moment(arg: exp.Expression) -> exp.Expression:
    """A constant text that is a date or time, as a constant of the type Doris gives it; anything else unchanged."""
    type_ = moment_type(arg)
    return arg if type_ is None else exp.cast(arg.copy(), exp.DataType.build(type_, dialect="duckdb"), copy=False)


def moment_type(arg: exp.Expression) -> str | None:
    """DATE or one of DuckDB's three time types if the expression is a constant text of such a form, else None."""
    return moment_of(arg.this) if isinstance(arg, exp.Literal) and arg.is_string else None


def moment_of(text: str) -> str | None:
    """As `moment_type`, of the text itself."""
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    if match["time"] is None:
        return "DATE"
    decimals = len(match["fraction"] or ".") - 1
    return "TIMESTAMP_S" if decimals == 0 else "TIMESTAMP_MS" if decimals <= 3 else "TIMESTAMP"


def shift(moment: exp.Expression, interval: exp.Interval, verb: str) -> exp.Expression:
    """`moment` plus (`add`) or minus (`sub`) the interval."""
    unit, count = interval_parts(interval)
    return macro(f"{unit}s_{verb}", as_moment(moment), count)


def interval_parts(interval: exp.Interval) -> tuple[str, exp.Expression]:
    """Unit in the singular and the number of them. Raises SqlError for a compound unit such as DAY_HOUR."""
    unit = str(interval.args.get("unit") or "").lower()
    count = interval.this
    if isinstance(count, exp.Literal) and count.is_string:
        if not re.fullmatch(r"[+-]?\d+", count.this):
            raise errors.unsupported(f"INTERVAL '{count.this}' {unit.upper()}")
        count = exp.Literal.number(count.this)
    return _unit(unit), count


def _unit(name: str) -> str:
    if name.lower() not in UNITS:
        raise errors.unsupported(f"the time unit {name.upper()}")
    return name.lower()


def _constant(name: str, args: list[exp.Expression], place: int) -> str:
    arg = args[place] if place < len(args) else None
    if not (isinstance(arg, exp.Literal) and arg.is_string):
        raise errors.unsupported(f"{name} with argument {place + 1} not a constant text")
    return str(arg.this)


def _arity(name: str, args: Sequence[object], *allowed: int) -> None:
    if len(args) not in allowed:
        raise errors.refused(f"Can not found function '{name}' which has {len(args)} arity")


def _text(arg: exp.Expression) -> exp.Expression:
    return arg if isinstance(arg, exp.Literal) and arg.is_string else macro("to_text", arg)


def _double(arg: exp.Expression) -> exp.Expression:
    return exp.cast(arg, exp.DataType.build("DOUBLE", dialect="duckdb"), copy=False)


def _when(condition: exp.Expression, value: exp.Expression) -> exp.Expression:
    return exp.Case(ifs=[exp.If(this=condition, true=value)])


# -- builders


def _date_trunc(args: list[exp.Expression]) -> exp.Expression:
    _arity("date_trunc", args, 2)
    texts = [arg for arg in args if isinstance(arg, exp.Literal) and arg.is_string]
    if not texts:
        raise errors.refused("the time unit parameter of date_trunc function must be a string constant")
    unit = next((t for t in texts if t.this.lower() in TRUNC_UNITS), None)
    if unit is None:
        raise errors.refused(f"date_trunc function time unit param only support argument is {'|'.join(TRUNC_UNITS)}")
    moment = args[1] if unit is args[0] else args[0]
    return macro("date_trunc", as_moment(moment), exp.Literal.string(unit.this.lower()))


def _date_format(args: list[exp.Expression]) -> exp.Expression:
    _arity("date_format", args, 2)
    format_ = formats.to_strftime(_constant("date_format", args, 1))
    return macro("date_format", as_moment(args[0]), exp.Literal.string(format_))


def _from_unixtime(args: list[exp.Expression]) -> exp.Expression:
    _arity("from_unixtime", args, 1, 2)
    format_ = _constant("from_unixtime", args, 1) if len(args) == 2 else "%Y-%m-%d %H:%i:%s"
    return macro("from_unixtime", args[0], exp.Literal.string(formats.to_strftime(format_)))


def _str_to_date(args: list[exp.Expression]) -> exp.Expression:
    _arity("str_to_date", args, 2)
    format_ = _constant("str_to_date", args, 1)
    name = "str_to_datetime" if formats.has_time(format_) else "str_to_day"
    return macro(name, args[0], exp.Literal.string(formats.to_strftime(format_)))


def _unix_timestamp(args: list[exp.Expression]) -> exp.Expression:
    _arity("unix_timestamp", args, 0, 1, 2)
    if len(args) == 2:
        return macro("unix_timestamp", _str_to_date(args))
    return macro("unix_timestamp", *(as_moment(arg) for arg in args))


def _shifted(verb: str) -> Builder:
    def build(args: list[exp.Expression]) -> exp.Expression:
        _arity(f"date_{verb}", args, 2)
        moment, by = args
        if isinstance(by, exp.Interval):
            return shift(moment, by, verb)
        return macro(f"days_{verb}", as_moment(moment), by)

    return build


def _timestampadd(args: list[exp.Expression]) -> exp.Expression:
    _arity("timestampadd", args, 3)
    return macro(f"{_unit(args[0].name)}s_add", as_moment(args[2]), args[1])


def _timestampdiff(args: list[exp.Expression]) -> exp.Expression:
    _arity("timestampdiff", args, 3)
    return macro(f"{_unit(args[0].name)}s_diff", as_moment(args[2]), as_moment(args[1]))


def _date_period(kind: str) -> Builder:
    def build(args: list[exp.Expression]) -> exp.Expression:
        _arity(f"date_{kind}", args, 2)
        if not isinstance(args[1], exp.Interval):
            raise errors.refused(f"Can not found function 'date_{kind}' without an INTERVAL")
        unit, count = interval_parts(args[1])
        return macro(f"{unit}_{kind}", as_moment(args[0]), count)

    return build


def _now(args: list[exp.Expression]) -> exp.Expression:
    _arity("now", args, 0, 1)
    scale = int(args[0].name) if args and args[0].name.isdigit() else 0
    return macro("now_s" if scale == 0 else "now_ms" if scale <= 3 else "now_us")


def _today(args: list[exp.Expression]) -> exp.Expression:
    _arity("current_date", args, 0)
    return macro("today")


def _extreme(name: str) -> Builder:
    """Null if any argument is; DuckDB's skip nulls."""

    def build(args: list[exp.Expression]) -> exp.Expression:
        if not args:
            raise errors.refused(f"Can not found function '{name}' which has 0 arity")
        whole = exp.and_(*(exp.Not(this=exp.Is(this=a.copy(), expression=exp.Null())) for a in args), copy=False)
        return _when(whole, _call(name, *args))

    return build


def _concat(args: list[exp.Expression]) -> exp.Expression:
    """Null if any argument is; DuckDB's concat skips nulls, its || does not."""
    if not args:
        raise errors.refused("Can not found function 'concat' which has 0 arity")
    joined = _text(args[0])
    for arg in args[1:]:
        joined = exp.DPipe(this=joined, expression=_text(arg))
    return exp.Paren(this=joined)


def _concat_ws(args: list[exp.Expression]) -> exp.Expression:
    return _call("concat_ws", *map(_text, args))


def _group_concat(args: list[exp.Expression]) -> exp.Expression:
    """`group_concat([DISTINCT] text [, separator] [ORDER BY ..])`; the separator is ", " unless given."""
    order = args[-1] if args and isinstance(args[-1], exp.Order) else None
    parts = [*args[:-1], order.this] if order is not None else list(args)
    distinct = bool(parts) and isinstance(parts[0], exp.Distinct)
    if distinct:
        parts = [*parts[0].expressions, *parts[1:]]
    _arity("group_concat", parts, 1, 2)
    # DuckDB orders a DISTINCT aggregate only by its argument itself, so that one stays as it is.
    text = parts[0] if distinct and order is not None else _text(parts[0])
    value: exp.Expression = exp.Distinct(expressions=[text]) if distinct else text
    separator = parts[1] if len(parts) == 2 else exp.Literal.string(", ")
    if order is not None:
        separator = exp.Order(this=separator, expressions=order.expressions)
    return _call("string_agg", value, separator)


def _percentile(args: list[exp.Expression]) -> exp.Expression:
    """Exact, also for percentile_approx: on one node an estimate saves nothing."""
    _arity("percentile", args, 2, 3)
    return _call("quantile_cont", _double(args[0]), args[1])


def _count_if(args: list[exp.Expression]) -> exp.Expression:
    _arity("count_if", args, 1)
    return exp.Count(this=_when(args[0], exp.Literal.number(1)))


def _if_combinator(name: str) -> Builder:
    def build(args: list[exp.Expression]) -> exp.Expression:
        _arity(f"{name}_if", args, 2)
        return _call(name, _when(args[1], args[0]))

    return build


def _isnull(args: list[exp.Expression]) -> exp.Expression:
    _arity("isnull", args, 1)
    return exp.Paren(this=exp.Is(this=args[0], expression=exp.Null()))


def _field(args: list[exp.Expression]) -> exp.Expression:
    first, *rest = args
    ifs = [
        exp.If(this=exp.EQ(this=first.copy(), expression=a), true=exp.Literal.number(n)) for n, a in enumerate(rest, 1)
    ]
    return exp.Case(ifs=ifs, default=exp.Literal.number(0))


BUILDERS: dict[str, Builder] = {
    "date_trunc": _date_trunc,
    "date_format": _date_format,
    "from_unixtime": _from_unixtime,
    "str_to_date": _str_to_date,
    "unix_timestamp": _unix_timestamp,
    "date_add": _shifted("add"),
    "adddate": _shifted("add"),
    "date_sub": _shifted("sub"),
    "subdate": _shifted("sub"),
    "timestampadd": _timestampadd,
    "timestampdiff": _timestampdiff,
    "date_floor": _date_period("floor"),
    "date_ceil": _date_period("ceil"),
    **dict.fromkeys(("now", "current_timestamp", "localtime", "localtimestamp", "utc_timestamp"), _now),
    **dict.fromkeys(("curdate", "current_date", "utc_date"), _today),
    "greatest": _extreme("greatest"),
    "least": _extreme("least"),
    "concat": _concat,
    "concat_ws": _concat_ws,
    "group_concat": _group_concat,
    "percentile": _percentile,
    "percentile_approx": _percentile,
    "count_if": _count_if,
    **{f"{name}_if": _if_combinator(name) for name in ("sum", "avg", "min", "max")},
    "isnull": _isnull,
    "field": _field,
}

LISTED = frozenset(BUILDERS) | frozenset(PLAIN) | frozenset(MACROS)
