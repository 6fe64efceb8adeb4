"""Stage 4: what people are told. An HTTP API, a page, and the commands that ask: `why`, `jobs`, `queues`, `violations`.

Here live the questions (`queries`, one SQL file a figure), what is made of their rows (`answers` and `figures`, which know
no web framework, so that a command can use them without one), the way to the warehouse (`store`), the API (`api`) and the
commands' side of it (`asking`). Nothing is judged here: waits, reasons and promises come as rows from the aggregation, and
sentences from `pipeline.records.words`. This stage writes nothing and imports no other stage.
"""
