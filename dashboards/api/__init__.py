"""The HTTP API, version 1, and the files of the page: the one room that knows the web framework.

One router a noun; each route reads what is asked, lets a function of `dashboards.figures` make the object, and sends it as
JSON. Objects are described in `dashboards.objects`, from where the OpenAPI document takes them, and encoded directly: no
model of the framework stands between the rows and the bytes. Errors are problem details (RFC 9457). Nothing here writes.
"""
