"""What the API server itself says happened: every state of every object of a kind, from one watch that never breaks."""

from __future__ import annotations

import json
import ssl
import threading
import time
import urllib.request
from typing import Any, NamedTuple

from tests.support.cluster import Cluster


class State(NamedTuple):
    """One frame: its version, what it was, when it came here (ms), and the object."""

    version: str
    type: str
    at_ms: int
    object: dict[str, Any]


class Truth:
    """Follows one collection, such as `/api/v1/namespaces/load/pods`, as `admin`, from now until the block ends."""

    def __init__(self, kube: Cluster, path: str) -> None:
        self.states: dict[str, list[State]] = {}
        """By uid, in order."""
        self._last_s = time.monotonic()
        self.broken = False
        version = kube.request("GET", path)["metadata"]["resourceVersion"]
        asked = urllib.request.Request(
            f"{kube.url}{path}?watch=1&resourceVersion={version}&timeoutSeconds=36000",
            headers={"Authorization": "Bearer admin-token"},
        )
        context = ssl.create_default_context(cafile=str(kube.ca))
        self._stream = urllib.request.urlopen(asked, context=context, timeout=3600)
        self._closing = False
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def __enter__(self) -> Truth:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing = True
        self._stream.fp.raw._sock.shutdown(2)  # a read that waits for the next line ends only so
        self._thread.join(10)
        self._stream.close()

    def live(self) -> set[str]:
        """Uids of what exists."""
        return {uid for uid, states in self.states.items() if states[-1].type != "DELETED"}

    def idle_s(self) -> float:
        """Since the last frame."""
        return time.monotonic() - self._last_s

    def _follow(self) -> None:
        try:
            for line in self._stream:
                self._take(json.loads(line))
        except (OSError, ValueError):
            pass
        self.broken = not self._closing

    def _take(self, frame: dict[str, Any]) -> None:
        meta = frame["object"]["metadata"]
        self._last_s = time.monotonic()
        state = State(meta["resourceVersion"], frame["type"], int(time.time() * 1000), frame["object"])
        self.states.setdefault(meta["uid"], []).append(state)
