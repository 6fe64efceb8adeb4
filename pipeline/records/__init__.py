"""The words the stages share: records, object shapes, reasons, promises, rows, tables, sentences.

Structs and pure functions only: no clock, no disk, no network, and no library but msgspec. Two things that are logic
live here because two stages must agree on them to the letter: the deadline arithmetic (`sla`) and the matching of pods
and nodes (`matching`). What only one stage needs belongs to that stage.
"""
