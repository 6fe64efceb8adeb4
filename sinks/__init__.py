"""STAGE 3: rows and records → somewhere that keeps them, or someone who must know.

Rooms: `doris` (tables, views, schema changes, how rows become loads), `doris_local` (the embedded store that speaks
Doris' protocols), `alerts` (delivery to people). `base` is the contract between what is read and what is written,
`runner` the loader that joins them. Nothing is judged here: rows arrive finished, their values absolute, and loading one
twice, late or out of order changes nothing. Stages meet in records, topics and tables: no other stage is imported.
"""
