"""Doris as a client sees it: Stream Load over HTTP for writing, the MySQL protocol for everything else.

Here live the connection and its rules (which host may get the password, what each answer means, which failures pass by
themselves), once for the sink that writes and the dashboards that read. What is written, the tables and their views,
belongs to `sinks/doris` and `pipeline/records`. This room looks only at `errors`, `config`, `records` and `telemetry`,
and is the only one that imports pymysql or speaks HTTP to Doris.
"""
