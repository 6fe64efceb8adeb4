"""Doris' functions as DuckDB macros in schema `fn`, made anew at each start.

A macro may have several forms told apart by argument types; an argument is cast to its parameter's type, so a form
without types takes the rest as it is. `cast_to_type(value, x)` gives a result the type of the argument, which is how
DATETIME(3) stays DATETIME(3) through date arithmetic, as on Doris.
"""

from __future__ import annotations

_MICROSECONDS = {
    "weeks": 604_800_000_000,
    "days": 86_400_000_000,
    "hours": 3_600_000_000,
    "minutes": 60_000_000,
    "seconds": 1_000_000,
    "milliseconds": 1_000,
    "microseconds": 1,
}
_MONTHS = {"years": 12, "quarters": 3, "months": 1}
_FLOORS = {
    "second": "to_seconds(n)",
    "minute": "to_minutes(n)",
    "hour": "to_hours(n)",
    "day": "to_days(CAST(n AS INTEGER))",
    "week": "to_days(CAST(7 * n AS INTEGER))",
    "month": "to_months(CAST(n AS INTEGER))",
    "year": "to_months(CAST(12 * n AS INTEGER))",
}
_INTEGERS = {"tinyint": "TINYINT", "smallint": "SMALLINT", "int": "INTEGER", "bigint": "BIGINT", "largeint": "HUGEINT"}
_PARTS = {
    "year": "year(x)",
    "quarter": "quarter(x)",
    "month": "month(x)",
    "day": "day(x)",
    "dayofmonth": "day(x)",
    "hour": "hour(x)",
    "minute": "minute(x)",
    "second": "second(x)",
    "dayofweek": "dayofweek(x) + 1",  # Sunday is 1
    "weekday": "isodow(x) - 1",  # Monday is 0
    "dayofyear": "dayofyear(x)",
    "weekofyear": "weekofyear(x)",
}

# name: forms, each "(parameters) AS expression"
_SINGLE: dict[str, str] = {
    # times
    "date_trunc": """
        (x DATE, unit) AS CAST(date_trunc(unit, x) AS DATE),
        (x VARCHAR, unit) AS date_trunc(unit, TRY_CAST(x AS TIMESTAMP)),
        (x, unit) AS cast_to_type(date_trunc(unit, x), x)""",
    "last_day": "(x) AS last_day(TRY_CAST(x AS DATE))",
    "to_date": "(x) AS TRY_CAST(TRY_CAST(x AS TIMESTAMP) AS DATE)",
    "datediff": "(a, b) AS CAST(TRY_CAST(a AS DATE) - TRY_CAST(b AS DATE) AS INTEGER)",
    "dayname": "(x) AS dayname(TRY_CAST(x AS TIMESTAMP))",
    "monthname": "(x) AS monthname(TRY_CAST(x AS TIMESTAMP))",
    "unix_timestamp": """
        () AS CAST(epoch_us(now()) // 1000000 AS BIGINT),
        (x DATE) AS epoch_us(x) // 1000000,
        (x TIMESTAMP_S) AS epoch_us(x) // 1000000,
        (x TIMESTAMP_MS) AS CAST(epoch_us(x) / 1e6 AS DECIMAL(18, 3)),
        (x TIMESTAMP) AS CAST(epoch_us(x) / 1e6 AS DECIMAL(18, 6)),
        (x VARCHAR) AS epoch_us(TRY_CAST(x AS TIMESTAMP)) // 1000000""",
    "second_timestamp": "(x) AS epoch_us(TRY_CAST(x AS TIMESTAMP)) // 1000000",
    "millisecond_timestamp": "(x) AS epoch_us(TRY_CAST(x AS TIMESTAMP)) // 1000",
    "microsecond_timestamp": "(x) AS epoch_us(TRY_CAST(x AS TIMESTAMP))",
    "from_second": "(n) AS CAST(make_timestamp(CAST(n AS BIGINT) * 1000000) AS TIMESTAMP_S)",
    "from_millisecond": "(n) AS CAST(make_timestamp(CAST(n AS BIGINT) * 1000) AS TIMESTAMP_MS)",
    "from_microsecond": "(n) AS make_timestamp(CAST(n AS BIGINT))",
    "from_unixtime": """
        (n, format) AS CASE WHEN n >= 0 THEN
            strftime(make_timestamp(CAST(trunc(n) AS BIGINT) * 1000000), format) END""",
    "date_format": "(x, format) AS strftime(TRY_CAST(x AS TIMESTAMP), format)",
    "str_to_datetime": "(x, format) AS CAST(try_strptime(x, format) AS TIMESTAMP_S)",
    "str_to_day": "(x, format) AS CAST(try_strptime(x, format) AS DATE)",
    "convert_tz": """
        (x VARCHAR, source, target) AS (TRY_CAST(x AS TIMESTAMP) AT TIME ZONE source) AT TIME ZONE target,
        (x, source, target) AS cast_to_type((CAST(x AS TIMESTAMP) AT TIME ZONE source) AT TIME ZONE target, x)""",
    # A cast to fewer decimals rounds, and half a second ahead is not now.
    "now_s": "() AS CAST(date_trunc('second', CAST(now() AS TIMESTAMP)) AS TIMESTAMP_S)",
    "now_ms": "() AS CAST(date_trunc('milliseconds', CAST(now() AS TIMESTAMP)) AS TIMESTAMP_MS)",
    "now_us": "() AS CAST(now() AS TIMESTAMP)",
    "today": "() AS CAST(CAST(now() AS TIMESTAMP) AS DATE)",
    # A text column is compared with a time's text as text, anything else with the time.
    "at": "(x VARCHAR, moment, raw) AS raw, (x, moment, raw) AS moment",
    # numbers
    "div": """
        (a BIGINT, b BIGINT) AS a // b,
        (a HUGEINT, b HUGEINT) AS a // b,
        (a DECIMAL(38, 9), b DECIMAL(38, 9)) AS CAST(trunc(a / b) AS BIGINT),
        (a DOUBLE, b DOUBLE) AS CAST(trunc(a / b) AS BIGINT)""",
    "truncate": "(x, n) AS trunc(x * power(10, n)) / power(10, n)",
    "mod": "(a, b) AS a % b",
    "pmod": "(a, b) AS ((a % b) + b) % b",
    "power": "(a, b) AS power(a, b)",
    "log": "(base, x) AS CASE WHEN x > 0 AND base > 0 AND base <> 1 THEN log(base, x) END",
    "log10": "(x) AS CASE WHEN x > 0 THEN log10(x) END",
    "log2": "(x) AS CASE WHEN x > 0 THEN log2(x) END",
    "ln": "(x) AS CASE WHEN x > 0 THEN ln(x) END",
    "sqrt": "(x) AS CASE WHEN x >= 0 THEN sqrt(x) END",
    # texts
    "to_text": r"""
        (x) AS CASE typeof(x)
            WHEN 'TIMESTAMP_MS' THEN rpad(CAST(x AS VARCHAR) || CASE WHEN contains(CAST(x AS VARCHAR), '.')
                THEN '' ELSE '.' END, 23, '0')
            WHEN 'TIMESTAMP' THEN rpad(CAST(x AS VARCHAR) || CASE WHEN contains(CAST(x AS VARCHAR), '.')
                THEN '' ELSE '.' END, 26, '0')
            WHEN 'DOUBLE' THEN regexp_replace(CAST(x AS VARCHAR), '\.0$', '')
            WHEN 'FLOAT' THEN regexp_replace(CAST(x AS VARCHAR), '\.0$', '')
            WHEN 'BOOLEAN' THEN CASE CAST(x AS VARCHAR) WHEN 'true' THEN '1' WHEN 'false' THEN '0' END
            ELSE CAST(x AS VARCHAR) END""",
    "length": "(s) AS CAST(strlen(s) AS INTEGER)",
    "char_length": "(s) AS CAST(length(s) AS INTEGER)",
    "lower": "(s) AS lower(s)",
    "upper": "(s) AS upper(s)",
    "trim": "(s) AS trim(s, ' ')",
    "ltrim": "(s) AS ltrim(s, ' ')",
    "rtrim": "(s) AS rtrim(s, ' ')",
    "lpad": "(s, n, pad) AS lpad(s, CAST(n AS INTEGER), pad)",
    "rpad": "(s, n, pad) AS rpad(s, CAST(n AS INTEGER), pad)",
    "left": "(s, n) AS CASE WHEN n > 0 THEN left(s, n) ELSE '' END",
    "right": "(s, n) AS CASE WHEN n > 0 THEN right(s, n) ELSE '' END",
    "substring": """
        (s, start) AS CASE WHEN start = 0 OR start < -length(s) THEN '' ELSE substring(s, start) END,
        (s, start, n) AS CASE WHEN start = 0 OR n <= 0 OR start < -length(s) THEN ''
            ELSE substring(s, start, n) END""",
    "substring_index": """
        (s, mark, n) AS CASE WHEN n = 0 THEN ''
            WHEN n > 0 THEN array_to_string(string_split(s, mark)[1:n], mark)
            ELSE array_to_string(string_split(s, mark)[greatest(len(string_split(s, mark)) + n + 1, 1):], mark) END""",
    "instr": "(s, part) AS CAST(instr(s, part) AS INTEGER)",
    "locate": """
        (part, s) AS CAST(instr(s, part) AS INTEGER),
        (part, s, start) AS CAST(CASE WHEN start < 1 OR instr(substring(s, start), part) = 0 THEN 0
            ELSE instr(substring(s, start), part) + start - 1 END AS INTEGER)""",
    "replace": "(s, old, new) AS replace(s, old, new)",
    "repeat": "(s, n) AS CASE WHEN n > 0 THEN repeat(s, n) ELSE '' END",
    "reverse": "(s) AS reverse(s)",
    "space": "(n) AS CASE WHEN n > 0 THEN repeat(' ', n) ELSE '' END",
    "split_part": "(s, mark, n) AS string_split(s, mark)[CASE WHEN n <> 0 THEN n END]",
    "starts_with": "(s, part) AS starts_with(s, part)",
    "ends_with": "(s, part) AS ends_with(s, part)",
    "regexp_extract": "(s, pattern, n) AS regexp_extract(s, pattern, n)",
    "regexp_replace": "(s, pattern, new) AS regexp_replace(s, pattern, new, 'g')",
    "regexp_replace_one": "(s, pattern, new) AS regexp_replace(s, pattern, new)",
    "find_in_set": "(s, list) AS CAST(coalesce(list_position(string_split(list, ','), s), 0) AS INTEGER)",
    "null_or_empty": "(s) AS s IS NULL OR s = ''",
    "not_null_or_empty": "(s) AS s IS NOT NULL AND s <> ''",
    "md5": "(s) AS md5(s)",
    "hex": "(x) AS hex(x)",
    "ascii": "(s) AS ascii(s)",
    "strcmp": "(a, b) AS CASE WHEN a < b THEN -1 WHEN a > b THEN 1 WHEN a = b THEN 0 END",
    # JSON; a text that is no JSON gives null
    "json_text": "(j, path) AS CASE WHEN json_valid(j) THEN json_extract_string(j, path) END",
    "json_part": "(j, path) AS CASE WHEN json_valid(j) THEN json_extract(j, path) END",
    "json_int": "(j, path) AS CASE WHEN json_valid(j) AND json_type(j, path) IN ('BIGINT', 'UBIGINT') THEN"
    " TRY_CAST(json_extract_string(j, path) AS INTEGER) END",
    "json_bigint": "(j, path) AS CASE WHEN json_valid(j) AND json_type(j, path) IN ('BIGINT', 'UBIGINT') THEN"
    " TRY_CAST(json_extract_string(j, path) AS BIGINT) END",
    "json_double": "(j, path) AS CASE WHEN json_valid(j) AND json_type(j, path) IN ('BIGINT', 'UBIGINT', 'DOUBLE')"
    " THEN TRY_CAST(json_extract_string(j, path) AS DOUBLE) END",
    "json_bool": "(j, path) AS CASE WHEN json_valid(j) AND json_type(j, path) = 'BOOLEAN' THEN"
    " TRY_CAST(json_extract_string(j, path) AS BOOLEAN) END",
    "json_exists_path": "(j, path) AS CASE WHEN json_valid(j) THEN json_exists(j, path) END",
    "json_valid": "(j) AS json_valid(j)",
    "json_parse": "(j) AS CAST(json(j) AS JSON)",
    "json_unquote": "(j) AS CASE WHEN json_valid(j) AND json_type(j) = 'VARCHAR' THEN json_extract_string(j, '$') ELSE j END",
    "json_length": """
        (j, path := '$') AS CAST(CASE WHEN json_valid(j) THEN CASE json_type(j, path)
            WHEN 'ARRAY' THEN json_array_length(j, path) WHEN 'OBJECT' THEN len(json_keys(j, path))
            ELSE CASE WHEN json_exists(j, path) THEN 1 END END END AS INTEGER)""",
    "json_contains": "(j, part) AS CASE WHEN json_valid(j) THEN json_contains(CAST(j AS JSON), CAST(part AS JSON)) END",
}


# Macros that take times: a constant text given to them is a time.
TEMPORAL = frozenset(
    {
        *_PARTS,
        *(f"{unit}_{kind}" for unit in _FLOORS for kind in ("floor", "ceil")),
        *(f"{unit}_{kind}" for unit in (*_MONTHS, *_MICROSECONDS) for kind in ("add", "sub", "diff")),
        *("last_day", "to_date", "datediff", "dayname", "monthname", "convert_tz"),
        *("second_timestamp", "millisecond_timestamp", "microsecond_timestamp"),
    }
)


def script() -> str:
    """The statements that make schema `fn` with all macros."""
    lines = ["CREATE SCHEMA IF NOT EXISTS fn;"]
    lines += [f"CREATE OR REPLACE MACRO fn.{name} {forms};" for name, forms in forms_by_name().items()]
    return "\n".join(lines)


def forms_by_name() -> dict[str, str]:
    """All macros: single ones and the families."""
    return {
        **{name: f"(x) AS CAST({_on_timestamp(part)} AS INTEGER)" for name, part in _PARTS.items()},
        **_integer_casts(),
        **_floors(),
        **_additions(),
        **_differences(),
        **_SINGLE,
    }


def _on_timestamp(expression: str) -> str:
    return expression.replace("(x)", "(TRY_CAST(x AS TIMESTAMP))")


def _integer_casts() -> dict[str, str]:
    """A cast to an integer cuts decimals off on Doris; DuckDB's rounds."""
    return {
        f"to_{name}": f"""
            (x BOOLEAN) AS TRY_CAST(x AS {duck}),
            (x HUGEINT) AS TRY_CAST(x AS {duck}),
            (x DECIMAL(38, 9)) AS TRY_CAST(trunc(x) AS {duck}),
            (x DOUBLE) AS TRY_CAST(trunc(x) AS {duck}),
            (x VARCHAR) AS CASE WHEN regexp_full_match(x, '\\s*[+-]?[0-9]+\\s*') THEN TRY_CAST(x AS {duck})
                ELSE TRY_CAST(trunc(TRY_CAST(x AS DOUBLE)) AS {duck}) END"""
        for name, duck in _INTEGERS.items()
    }


def _floors() -> dict[str, str]:
    """`minute_floor(x, n, origin)` and its kin: periods of n units, counted from the origin, the year 1 without one."""
    made = {}
    for unit, width in _FLOORS.items():
        bucket = f"time_bucket({width}, TRY_CAST(x AS TIMESTAMP), TRY_CAST(origin AS TIMESTAMP))"
        for kind, result in (
            ("floor", bucket),
            ("ceil", f"CASE WHEN {bucket} = TRY_CAST(x AS TIMESTAMP) THEN {bucket} ELSE {bucket} + {width} END"),
        ):
            made[f"{unit}_{kind}"] = (
                f"(x, n := 1, origin := TIMESTAMP '0001-01-01 00:00:00') AS CAST({result} AS TIMESTAMP_S)"
            )
    return made


def _additions() -> dict[str, str]:
    """`days_add(x, n)` and its kin, `_sub` too: the type of x stays unless it cannot hold the unit."""
    made = {}
    for verb, sign in (("add", "+"), ("sub", "-")):
        for unit, months in _MONTHS.items():
            made[f"{unit}_{verb}"] = _addition(sign, f"to_months(CAST(n * {months} AS INTEGER))", "DATE")
        made[f"weeks_{verb}"] = _addition(sign, "to_days(CAST(n * 7 AS INTEGER))", "DATE")
        made[f"days_{verb}"] = _addition(sign, "to_days(CAST(n AS INTEGER))", "DATE")
        for unit in ("hours", "minutes", "seconds"):
            made[f"{unit}_{verb}"] = _addition(sign, f"to_{unit}(n)", "TIMESTAMP_S")
        for unit, type_ in (("milliseconds", "TIMESTAMP_MS"), ("microseconds", "TIMESTAMP")):
            moved = f"TRY_CAST(x AS TIMESTAMP) {sign} to_{unit}(n)"
            made[f"{unit}_{verb}"] = ", ".join(
                [
                    f"(x TIMESTAMP, n) AS {moved}",
                    *(f"(x {t}, n) AS CAST({moved} AS {type_})" for t in ("DATE", "TIMESTAMP_S", "TIMESTAMP_MS")),
                    f"(x VARCHAR, n) AS {moved}",
                ]
            )
    return made


def _addition(sign: str, interval: str, date_becomes: str) -> str:
    return f"""
        (x DATE, n) AS CAST(x {sign} {interval} AS {date_becomes}),
        (x VARCHAR, n) AS TRY_CAST(x AS TIMESTAMP) {sign} {interval},
        (x, n) AS cast_to_type(x {sign} {interval}, x)"""


def _differences() -> dict[str, str]:
    """`days_diff(a, b)` and its kin: whole units from b to a, cut towards zero."""
    a, b = "TRY_CAST(a AS TIMESTAMP)", "TRY_CAST(b AS TIMESTAMP)"
    made = {
        f"{unit}_diff": f"(a, b) AS (epoch_us({a}) - epoch_us({b})) // {width}" for unit, width in _MICROSECONDS.items()
    }
    # Months passed on the calendar, less one if the last is not full yet; the rest of the month is the time since its 1st.
    calendar = f"((year({a}) - year({b})) * 12 + month({a}) - month({b}))"
    rest_a, rest_b = (f"epoch_us({t}) - epoch_us(date_trunc('month', {t}))" for t in (a, b))
    short = f"CASE WHEN {calendar} > 0 AND {rest_a} < {rest_b} THEN -1 WHEN {calendar} < 0 AND {rest_a} > {rest_b} THEN 1 ELSE 0 END"
    made["months_diff"] = f"(a, b) AS {calendar} + {short}"
    made["quarters_diff"] = "(a, b) AS fn.months_diff(a, b) // 3"
    made["years_diff"] = "(a, b) AS fn.months_diff(a, b) // 12"
    return made
