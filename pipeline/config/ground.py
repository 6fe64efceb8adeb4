"""The settings that every process has: which cluster, where its data is, how it logs, its admin port."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pydantic

from pipeline.config.fields import LIVE, Section


class Cluster(Section):
    """The cluster that is observed."""

    name: Annotated[
        str, pydantic.Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(@replay)?$", max_length=63)
    ] = "default"
    """Name of the cluster in every record, row and alert. A name that another cluster took is refused at start.

    A replay's name ends in `@replay`.
    """


class Log(Section):
    """The process's own log, on stderr."""

    level: Annotated[Literal["debug", "info", "warning", "error"], LIVE] = "info"
    """Least level that is written."""
    format: Literal["auto", "json", "text"] = "auto"
    """`json` writes one object a line, `text` is for people; `auto` is text on a terminal and JSON on a pipe."""


class Admin(Section):
    """The admin server of a process: health, readiness, metrics, effective settings."""

    address: str = "127.0.0.1"
    """Address it listens on; `0.0.0.0` in a container whose probes come from outside."""
    port: Annotated[int, pydantic.Field(ge=0, le=65535)] = 0
    """Port it listens on; 0 turns it off. Processes on one host need different ports."""


class Ground(Section):
    """The settings of every process. Stages add their sections beside these."""

    cluster: Cluster = pydantic.Field(default_factory=Cluster)
    data_dir: Path = Path("data")
    """Folder of everything a process keeps: spool, state, the local Doris. `~` is the home folder."""
    log: Log = pydantic.Field(default_factory=Log)
    admin: Admin = pydantic.Field(default_factory=Admin)

    @pydantic.field_validator("data_dir")
    @classmethod
    def _home(cls, path: Path) -> Path:
        return path.expanduser()
