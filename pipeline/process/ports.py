"""A port that cannot be had, reported the same way by every server of the project."""

from __future__ import annotations

import errno
import socket

from pipeline.errors import UserError


def require_free(address: str, port: int, key: str, flag: str | None = None) -> None:
    """Raises what a server would raise that listens there now: for a command that does much before its server starts."""
    if not port:
        return
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(place)
            tried.listen()
    except OSError as error:
        raise refused(error, address, port, key, flag) from error


def refused(error: OSError, address: str, port: int, key: str, flag: str | None = None) -> UserError:
    """The error for a person. `key` is the setting that changes the port, such as `admin.port`; `flag` an option that does."""
    variable = "KUBE_COLLECTOR__" + key.upper().replace(".", "__")
    change = f"set another one with {f'{flag} PORT' if flag else f'--set {key}=PORT'} or {variable}=PORT"
    if error.errno == errno.EADDRINUSE:
        return UserError(f"port {port} on {address} is taken by another program", fix=f"End that program, or {change}.")
    if error.errno == errno.EACCES:
        return UserError(
            f"port {port} on {address} needs more rights than this process has",
            fix=f"{change[:1].upper()}{change[1:]}.",
        )
    return UserError(
        f"cannot listen on {address}:{port}: {error.strerror or error}", fix=f"Check the address, or {change}."
    )
