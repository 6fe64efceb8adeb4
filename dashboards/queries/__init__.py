"""The questions to the warehouse: one SQL file a figure, in Doris' dialect, with parameters written `:name`.

A statement is exactly what is sent, but for its parameters: filters that are not asked for are switched off by a constant
(`:any_queue = 1 OR …`), which every planner folds away, never by putting text together. Each has a LIMIT. Names end in what
they hold: `_at` a time as text, `_day` a date, `_ms` milliseconds; a list fills `IN (:names)`. What two statements share stands
once, in a file that begins with `_`, and is taken in by a line `-- include NAME`.
"""
