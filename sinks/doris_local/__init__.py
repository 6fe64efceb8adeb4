"""A stand-in for Apache Doris on DuckDB, so that a laptop needs no cluster and one code path serves both.

It is a process of its own that speaks Doris' two protocols, Stream Load on HTTP and MySQL on TCP; the loader, the
migrations, the dashboards, Grafana and the `mysql` client reach it by address only. It is narrow and loud: what it does
it does as Doris does, and a statement, property, header or function outside the tested list is refused in Doris' own
error form. One node, one writer at a time, tens of millions of rows.

Reading order. Text: `tokens`, `reserved`, `cursor`; definitions: `ddl_table`, `ddl`, `schema`, `table_rules`; what
holds: `engine` (DuckDB), `catalog`, `definitions`, `keys` (the key models), `partitions`, `labels`; what comes in:
`rows` (JSON to rows), `load_headers`, `load`, `insert`; what is asked: `translate` with `nodes`, `functions`, `macros`,
`formats`, `aliases`, `headings`, `shapes`, then `statements`, `variables`, `show`, `information_schema`, `results`; the ports:
`listener`, `http`, `frontend`, `backend`, `mysql_wire`, `mysql_session`, `access`, `faults`; `server` joins them.

No product code imports this room but its own launcher, `launch`, found by entry point. DuckDB and sqlglot are at home
here and nowhere else. It looks only at `pipeline.errors`, `clock` and `faults`.
"""
