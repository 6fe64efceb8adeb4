"""How a reader finds the local Doris that a writer started: a small file beside its data, gone when it ends.

The local Doris listens on free ports, and whoever asks (the page, `why`, a person's mysql client) may be another process
than the one that started it. A file of a process that was killed names ports where nobody answers, or somebody else; the
first query tells.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from pipeline.doris.settings import Settings
from pipeline.errors import Unreachable

FILE_NAME = "address.json"
HOST = "127.0.0.1"


class Address(msgspec.Struct, frozen=True):
    """The two ports, on 127.0.0.1."""

    http_port: int
    mysql_port: int


def locate(settings: Settings, folder: Path) -> Settings:
    """The settings with an address: as they are when a frontend is set, else those of the local Doris of this folder.

    The folder is `doris` in the data folder. Raises Unreachable when none is set and none runs.
    """
    if settings.frontend:
        return settings
    address = announced(folder)
    if address is None:
        raise Unreachable(
            "no Doris is configured, and no local one is running",
            where=str(folder),
            fix="Start `kube-collector up`. If it runs on another data folder, as the demo does on data/demo, name that with"
            " --set data_dir=PATH; for a Doris of your own set doris.frontend to its host:8030.",
        )
    return at(settings, address).local_of(folder.parent)


def at(settings: Settings, address: Address) -> Settings:
    """The settings of the local Doris at this address: one node, so one copy and one bucket; no password."""
    return settings.model_copy(
        update={
            "frontend": f"{HOST}:{address.http_port}",
            "query_port": address.mysql_port,
            "backends": (HOST,),
            "user": "root",
            "password": None,
            "replication_num": 1,
            "buckets": 1,
            "load_interval": 0.5 if settings.load_interval is None else settings.load_interval,
        }
    )


def announced(folder: Path) -> Address | None:
    """The address in the folder; None when there is none."""
    try:
        return msgspec.json.decode((folder / FILE_NAME).read_bytes(), type=Address)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def announce(folder: Path, address: Address) -> None:
    """Lets others find it."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"{FILE_NAME}.{os.getpid()}"
    draft.write_bytes(msgspec.json.encode(address) + b"\n")
    draft.replace(folder / FILE_NAME)


def withdraw(folder: Path) -> None:
    """It is gone."""
    (folder / FILE_NAME).unlink(missing_ok=True)
