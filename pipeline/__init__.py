"""The ground floor: what two or more stages share.

Here live the words the stages exchange (`records`), the log they exchange them through (`log`), and the thin wrappers
around the outside world that more than one of them needs. Nothing here imports a stage; the rooms are layered
`cli > process > doris | kubeapi > log > telemetry > config > records`, and `errors`, `clock` and `retry` lie below all.
"""
