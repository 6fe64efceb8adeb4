"""A stand-in for Apache Doris on DuckDB, so that a laptop needs no cluster and one code path serves both.

It is a process of its own that speaks Doris' two protocols, Stream Load on HTTP and MySQL on TCP; the loader, the
migrations, the dashboards, Grafana and the `mysql` client reach it by address only. It is narrow and loud: what it does
it does as Doris does, and a statement, property, header or function outside the tested list is refused in Doris' own
error form. One node, one writer at a time, tens of millions of rows.

Reading order: `tokens`, `ddl` and `schema` understand table definitions; `catalog` remembers them; `keys` and `storage`
hold rows; `rows` and `load` take them in; `functions`, `translate` and `statements` answer SQL; `frontend` and
`backend` are the two HTTP faces over `http`, `mysql_wire` and `mysql_session` the SQL one; `server` wires them.

No product code imports this room but its own launcher, `launch`. DuckDB and sqlglot are at home here and nowhere else;
it looks only at `pipeline.errors`.
"""
