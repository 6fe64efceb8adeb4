"""The command line: finds commands, runs them, prints what they found, explains what went wrong.

Here live the loader (`main`), the option types and output formats that all commands share, and the commands of the ground
floor itself (`up` and `demo`, `config`, `doctor`, `version`, `completion`). A stage's commands belong to its own
`command.py`. This is the top room of the ground floor: it may look at every room below, and at stages only through entry
points.
"""
