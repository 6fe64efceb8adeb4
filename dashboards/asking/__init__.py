"""The commands' side: where the answers come from, and how they look in a terminal.

A `source` answers with the API's objects as plain data, either over HTTP (`api`) or, where no API runs, straight from the
warehouse through the same figures (`direct`). The HTTP way imports neither settings nor a web framework: it has to answer
before a person loses patience. Nothing here knows SQL.
"""
