"""The names by which this server lets itself be asked. Pure.

A page of somebody else can let its own name lead to 127.0.0.1 (DNS rebinding); to the browser our answers are then that
page's to read. It cannot choose the Host header, which still says its name. So only these are answered: any address in
figures, which needs no name server, `localhost`, and the names that the settings have.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

ANY = "*"


class Hosts:
    """Names without ports, in any case. `*` stands for all; `*.example.org` for all below it."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = {_plain(name) for name in names if name}

    def knows(self, host: str) -> bool:
        """Whether a request with this Host header is meant for us. Without one it comes from no browser."""
        name = _plain(host if host.endswith("]") else host.rsplit(":", 1)[0])
        return not host or ANY in self._names or _is_local(name) or name in self._names or self._below(name)

    def _below(self, name: str) -> bool:
        return any(each.startswith("*.") and name.endswith(each[1:]) for each in self._names)


def _plain(name: str) -> str:
    return name.strip().strip("[]").rstrip(".").lower()


def _is_local(name: str) -> bool:
    """An address in figures, or this machine by name."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
