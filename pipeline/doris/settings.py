"""Where Doris is and how to talk to it: the section `doris`."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Annotated, Self

import pydantic

from pipeline.config import fields

_FRONTEND = re.compile(
    r"(?:(?P<scheme>https?)://)?(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>\d{1,5}))?/?"
)
HTTP_PORT = 8030


class Settings(fields.Section):
    """Where Doris is and how to talk to it."""

    frontend: str = ""
    """HTTP address of a frontend (FE), `host:8030` or `https://host:8030`. Empty: a local Doris is started."""
    query_port: Annotated[int, pydantic.Field(ge=1, le=65535)] = 9030
    """Port of the frontend's MySQL protocol, on the same host."""
    backends: tuple[str, ...] = ()
    """Hosts that may receive the password and the rows when the frontend sends a load on to a backend (BE), `*` for any
    part of a name: `["*.doris-be.svc"]`. Empty: only the frontend's own host."""
    user: str = "root"
    """User for loads, schema and queries."""
    password: fields.Secret | None = None
    """Its password; `file:PATH` reads a mounted secret."""
    database: Annotated[str, pydantic.Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")] = "kube_collector"
    """Database of all tables and views; made if it does not exist."""
    replication_num: Annotated[int, pydantic.Field(ge=1)] = 3
    """Copies of every row; 1 for a Doris with one backend. The local Doris always has 1."""
    buckets: Annotated[int, pydantic.Field(ge=1, le=128)] = 4
    """Buckets of a day of a table; about one for each gigabyte of a day. Only new tables take it."""
    load_interval: fields.Duration | None = None
    """Longest time a row waits for its load: 5s, with the local Doris 500ms. Shorter means more versions to compact."""
    connect_timeout: fields.Duration = 5.0
    """Longest time to open a connection."""
    query_timeout: fields.Duration = 30.0
    """Longest time a statement may take."""
    load_timeout: fields.Duration = 120.0
    """Longest time a load may take before Doris gives it up."""
    max_connections: Annotated[int, pydantic.Field(ge=1, le=100)] = 8
    """Most connections of the MySQL protocol at a time; keep the sum over processes below `max_user_connections`."""

    _data_dir: Path | None = pydantic.PrivateAttr(None)

    @pydantic.field_validator("frontend")
    @classmethod
    def _address(cls, text: str) -> str:
        if text and _FRONTEND.fullmatch(text) is None:
            raise ValueError(f"{text!r} is no address (write host:8030 or https://host:8030)")
        return text

    @property
    def host(self) -> str:
        """The frontend's host. Raises ValueError when no frontend is set."""
        return self._parts()["host"].strip("[]")

    @property
    def http_url(self) -> str:
        """The frontend's HTTP address without a slash at its end. Raises ValueError when no frontend is set."""
        parts = self._parts()
        return f"{parts['scheme'] or 'http'}://{parts['host']}:{parts['port'] or HTTP_PORT}"

    @property
    def secret(self) -> str:
        """The password in clear."""
        return self.password.get_secret_value() if self.password else ""

    @property
    def option(self) -> str:
        """What a command needs to mean this Doris too: ` --set data_dir=PATH` of a local one, else nothing."""
        return "" if self._data_dir is None else f" --set data_dir={shlex.quote(str(self._data_dir))}"

    @property
    def when_silent(self) -> str:
        """What a person does when nobody answers there."""
        if self._data_dir is None:
            return "check doris.frontend and doris.query_port"
        return (
            "if the local Doris has ended, start what ran it again: `kube-collector up`, `sink` or `demo` with"
            f"{self.option}"
        )

    def local_of(self, data_dir: Path) -> Self:
        """These settings as those of the local Doris of a data folder."""
        made = self.model_copy()
        made._data_dir = data_dir
        return made

    def _parts(self) -> dict[str, str]:
        found = _FRONTEND.fullmatch(self.frontend)
        if found is None:
            raise ValueError("no frontend is set")
        return found.groupdict()
