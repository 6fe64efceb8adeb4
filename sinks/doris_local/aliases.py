"""Where an alias of the select list may be used.

DuckDB lets one be used nearly everywhere; Doris only in GROUP BY, HAVING and ORDER BY. A query that uses one in WHERE,
in a join's condition or in another column of the list would pass here and fail there, so it is refused here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from sinks.doris_local import errors

Columns = Callable[[str | None, str], set[str]]


def check(tree: exp.Expression, columns: Columns) -> None:
    """Raises SqlError if an alias stands where Doris knows only columns. `columns(database, table)` are lower-case."""
    for select in tree.find_all(exp.Select):
        aliases = {item.alias.lower() for item in select.expressions if isinstance(item, exp.Alias)}
        for column in _columns_where_only_they_are_known(select) if aliases else ():
            name = column.name.lower()
            if name in aliases and not _is_column(name, select, columns):
                raise errors.refused(f"Unknown column '{column.name}' in 'table list'")


def _columns_where_only_they_are_known(select: exp.Select) -> Iterator[exp.Column]:
    joins = [join.args.get("on") for join in select.args.get("joins") or ()]
    for part in (*select.expressions, select.args.get("where"), *joins):
        for node in part.walk(prune=lambda n: isinstance(n, exp.Query)) if part is not None else ():
            if isinstance(node, exp.Column) and not node.table:
                yield node


def _is_column(name: str, select: exp.Select, columns: Columns) -> bool:
    """Whether a table of the query, or of one around it, has such a column; also if that cannot be told."""
    query: exp.Expression | None = select
    while query is not None:
        if isinstance(query, exp.Select):
            for source in _sources(query):
                known = _names(source, columns)
                if known is None or name in known:
                    return True
        query = query.parent
    return False


def _sources(select: exp.Select) -> Iterator[exp.Expression]:
    from_ = select.args.get("from_")
    if from_ is not None:
        yield from_.this
    for join in select.args.get("joins") or ():
        yield join.this


def _names(source: exp.Expression, columns: Columns) -> set[str] | None:
    """Lower-case column names of a table, a subquery or what WITH names; None if they cannot be told."""
    alias = source.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        return {column.name.lower() for column in alias.columns}
    if isinstance(source, exp.Subquery):
        return _names_of_query(source.this)
    if not isinstance(source, exp.Table):
        return None
    common = _common_table(source)
    if common is not None:
        named = common.args["alias"].args.get("columns")
        return {column.name.lower() for column in named} if named else _names_of_query(common.this)
    parts = [part.name for part in source.parts]
    return columns(parts[-2] if len(parts) > 1 else None, parts[-1])


def _names_of_query(query: exp.Expression) -> set[str] | None:
    names = {name.lower() for name in query.named_selects} if isinstance(query, exp.Query) else {"*"}
    return None if "*" in names else names


def _common_table(table: exp.Table) -> exp.CTE | None:
    if len(table.parts) > 1:
        return None
    node: exp.Expression | None = table
    while node is not None:
        with_ = node.args.get("with_")
        for cte in with_.expressions if isinstance(with_, exp.With) else ():
            if cte.alias == table.name:
                found: exp.CTE = cte
                return found
        node = node.parent
    return None
