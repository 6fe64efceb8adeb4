"""A transport without a network: answers from a list, time from a counter. For what no server can be made to do on cue."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pipeline.errors import Terminal, Transient
from pipeline.kubeapi import statuses, transport

Failure = Transient | Terminal


class FakeClock:
    """Stands still unless somebody waits, or a script lets time pass."""

    def __init__(self, now_ms: int = 1_800_000_000_000) -> None:
        self._start_ms = now_ms
        self.passed_s = 0.0
        self.waits_s: list[float] = []

    def now_ms(self) -> int:
        return self._start_ms + round(self.passed_s * 1000)

    def monotonic_s(self) -> float:
        return self.passed_s

    def wait(self, stop: threading.Event, for_s: float) -> None:
        if for_s > 0 and not stop.is_set():
            self.waits_s.append(for_s)
            self.passed_s += for_s


class Stream:
    """What one watch sends: bytes are chunks, numbers let seconds pass, an exception ends it, else it ends in order."""

    def __init__(self, *steps: bytes | float | Failure) -> None:
        self.steps = steps


class ScriptedTransport:
    """Answers `get` from `lists` (probes from `probes`) and `stream` from `streams`, in order; the last probe repeats."""

    def __init__(
        self,
        clock: FakeClock,
        lists: list[bytes | Failure] | None = None,
        streams: list[Stream | Failure] | None = None,
        probes: list[bytes | Failure] | None = None,
    ) -> None:
        self.clock = clock
        self.lists = lists or []
        self.streams = streams or []
        self.probes = probes or [page("1")]
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.patience_s: list[float] = []
        """Read time-out of each list."""
        self.refreshes = 0
        self.aborted = False
        self.on_end: Callable[[], None] = lambda: None
        """Called when a script has no answer left; a test stops the reflector here."""

    def sent(self, kind: str) -> list[dict[str, str]]:
        """Queries of the requests of `kind`: list, probe or watch."""
        return [query for each, query in self.requests if each == kind]

    def get(self, path: str, query: Mapping[str, str], *, read_timeout_s: float) -> bytes:
        is_probe = query.get("resourceVersionMatch") == "NotOlderThan"
        self.requests.append(("probe" if is_probe else "list", dict(query)))
        if is_probe:
            return self._given(self.probes.pop(0) if len(self.probes) > 1 else self.probes[0])
        self.patience_s.append(read_timeout_s)
        return self._given(self._next(self.lists))

    @contextlib.contextmanager
    def stream(self, path: str, query: Mapping[str, str], *, read_timeout_s: float) -> Iterator[Iterator[bytes]]:
        self.requests.append(("watch", dict(query)))
        stream = self._next(self.streams)
        if not isinstance(stream, Stream):
            raise stream
        yield self._chunks(stream)

    def refresh(self) -> None:
        self.refreshes += 1

    def abort(self) -> None:
        self.aborted = True

    def _chunks(self, stream: Stream) -> Iterator[bytes]:
        for step in stream.steps:
            if isinstance(step, bytes):
                yield step
            elif isinstance(step, int | float):
                self.clock.passed_s += step
            else:
                raise step

    def _next(self, script: list[Any]) -> Any:
        if script:
            return script.pop(0)
        self.on_end()
        return transport.ConnectionLost("the script is at its end")

    @staticmethod
    def _given(answer: bytes | Failure) -> bytes:
        if isinstance(answer, bytes):
            return answer
        raise answer


def pod(name: str, version: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "team-a", "uid": f"uid-{name}", "resourceVersion": version}
    return {"metadata": metadata, "spec": {}, "status": {"phase": "Pending"}}


def page(version: str, *items: Any, token: str = "") -> bytes:
    """Body of a list page."""
    metadata = {"resourceVersion": version, "continue": token}
    return json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items}).encode()


def frame(type_: str, obj: Any) -> bytes:
    """One line of a watch."""
    return json.dumps({"type": type_, "object": obj}).encode() + b"\n"


def bookmark(version: str, *, initial_end: bool = False) -> bytes:
    annotations = {"k8s.io/initial-events-end": "true"} if initial_end else None
    return frame("BOOKMARK", {"kind": "Pod", "metadata": {"resourceVersion": version, "annotations": annotations}})


def status(code: int, reason: str = "", message: str = "", **details: Any) -> dict[str, Any]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "code": code,
        "reason": reason,
        "message": message,
        "details": details,
    }


def refused(code: int, reason: str = "", message: str = "", **details: Any) -> Failure:
    """The exception for an HTTP error answer."""
    return transport.refusal(statuses.read_status(json.dumps(status(code, reason, message, **details)).encode(), code))
