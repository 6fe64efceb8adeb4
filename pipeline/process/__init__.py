"""The life of a process: what is started, watched, drained and asked about from outside.

Here live the shape of a stage (`stage`), its threads (`loop`) and how their deaths are heard of (`deaths`), what starts and
ends them (`supervisor`), reloads (`reload`), a terminal that is closed (`hangup`), the admin server (`admin`), and how a port
or a data folder that cannot be had is reported (`ports`, `data_folder`). What a stage does belongs to the stage, which comes
in as an object. This room looks at `config` and `telemetry`; it knows no stage by name.
"""
