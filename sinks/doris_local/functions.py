"""The functions that queries may call."""

from __future__ import annotations

from sqlglot import exp

LISTED: frozenset[str] = frozenset({"lower", "upper", "abs", "floor", "round"})
MACROS = "CREATE SCHEMA IF NOT EXISTS fn;"


def call(name: str, args: list[exp.Expression]) -> exp.Expression:
    return exp.Anonymous(this=name, expressions=args)
