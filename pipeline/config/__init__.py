"""Settings: files, environment and flags made into typed sections, every mistake reported with its place.

Here live the machinery (`load` and what it stands on), the field types that every section uses (`fields`) and the
sections of the ground floor itself (`ground`). The fields of a stage do not belong here: each stage owns a `settings.py`
with one `fields.Section`, found by its entry point. This room looks only at `records`, `errors` and `extensions`.
"""
