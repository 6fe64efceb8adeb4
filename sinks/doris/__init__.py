"""The warehouse: its tables (generated from the table map), its public views, schema changes, rows as loads.

Everything here that is text or rows is pure; connections are `pipeline.doris`. Views are the public SQL API: tables may
change, views may not, except by new columns at their end.
"""
