"""What can be set about the page and the API. Where Doris is stands in the section `doris`."""

from __future__ import annotations

from typing import Annotated

import pydantic

from dashboards.address import ADDRESS, PORT
from pipeline.config import fields


class Settings(fields.Section):
    """Stage 4: the page and the HTTP API."""

    address: str = ADDRESS
    """Address it listens on; `0.0.0.0` lets others in: there is no login, so put a proxy that has one before it."""
    port: Annotated[int, pydantic.Field(ge=0, le=65535)] = PORT
    """Port it listens on; 0 takes any free one."""
    root_path: Annotated[str, pydantic.Field(pattern=r"^(/[A-Za-z0-9._~-]+)*$")] = ""
    """Path below which a proxy shows the page, such as `/kube-collector`; empty for the root of its host."""
    hosts: tuple[str, ...] = ()
    """Further names by which browsers and proxies ask for the page: `[jobs.example.org]`, `*.example.org`, `*` for any.

    `localhost`, addresses in figures and the names in `address` and `url` need not stand here; others get 421.
    """
    url: str = ""
    """Where the asking commands find the API, `https://host/path`; empty for the address and port above."""
    cache: fields.Duration = 1.0
    """How long the rows of a question are kept for the same question; 0 asks the warehouse each time."""
    query_timeout: fields.Duration = 10.0
    """Longest time a question to the warehouse may take; `doris.query_timeout` if that is shorter."""
    max_connections: Annotated[int, pydantic.Field(ge=1, le=100)] = 4
    """Most questions to the warehouse at a time; `doris.max_connections` if that is fewer."""
    max_rows: Annotated[int, pydantic.Field(ge=100, le=1_000_000)] = 20_000
    """Most rows that one answer is made of, such as the parts of all waits of a job; the rest is left out."""
    lag_alarm: fields.DurationMs = 60_000
    """Age of the last load from which the page says that the data is stale; a replay is never stale."""
