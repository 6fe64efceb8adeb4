"""The life of a process: what is started, watched, drained and asked about from outside.

Here live the shape of a stage (`stage`), its threads (`loop`), what starts and ends them (`supervisor`), reloads (`reload`), the
admin server (`admin`) and how a port that cannot be had is reported (`ports`). What a stage does belongs to the stage, which
comes in as an object. This room looks at `config` and `telemetry`; it knows no stage by name.
"""
