"""A port that cannot be had, reported the same way by every server of the project."""

from __future__ import annotations

import errno

from pipeline.errors import UserError


def refused(error: OSError, address: str, port: int, key: str) -> UserError:
    """The error for a person; `key` is the setting that changes the port, such as `admin.port`."""
    variable = "KUBE_COLLECTOR__" + key.upper().replace(".", "__")
    change = f"set another one with --set {key}=PORT or {variable}=PORT"
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
