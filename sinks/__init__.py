"""Stage 3: rows and records, loaded into the warehouse.

Rooms: `doris` (tables, views, schema changes, how rows become loads) and `doris_local` (the embedded store that speaks
Doris' protocols). `base` is the contract between what is read and what is written, `sources` are what is read, `runner` is
the loader that joins them, `counters` are its process's own. Nothing is judged here: rows arrive finished, their values
absolute, and loading one twice, late or out of order changes nothing. Stages meet in records, the log and tables: no other stage is imported.
"""
