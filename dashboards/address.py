"""Where the page is unless something else is set. Apart from the settings, since the asking commands must not load those
first: that takes longer than the answer."""

from __future__ import annotations

ADDRESS = "127.0.0.1"
PORT = 8080
SERVER = "kube-collector"
"""How answers name their server, so that a client can tell whether another program has the port."""


def url(address: str, port: int, root_path: str = "") -> str:
    """The page's address as a browser on this machine reaches it."""
    host = {"0.0.0.0": ADDRESS, "::": "[::1]", "": ADDRESS}.get(address, f"[{address}]" if ":" in address else address)
    return f"http://{host}:{port}{root_path}"
