"""The frontend's HTTP face: it sends loads on to the backend and answers what a client asks about the cluster.

As on Doris, refusals come with status 200 and say so in the JSON; a load is answered from its head alone.
"""

from __future__ import annotations

import socket
from urllib.parse import quote

import msgspec

from sinks.doris_local.access import Access
from sinks.doris_local.faults import Armed, Faults
from sinks.doris_local.http import Request, Response
from sinks.doris_local.labels import Labels
from sinks.doris_local.listener import HOST


class Frontend:
    """`handle` answers one request; `backend_port` is where loads are sent."""

    def __init__(self, access: Access, labels: Labels, faults: Faults, backend_port: int) -> None:
        self._access = access
        self._labels = labels
        self._faults = faults
        self._backend_port = backend_port
        self.query_port = 0

    def handle(self, request: Request) -> Response:
        parts = request.path.strip("/").split("/")
        match (request.method, parts):
            case (_, ["_fault"]) if self._faults.enabled:
                return self._fault(request)
            case ("GET", ["api", "bootstrap"]):
                return _success({"replayedJournalId": 0, "queryPort": self.query_port, "rpcPort": 0, "version": ""})
            case ("GET", ["api", "health"]):
                return _success({"online_backend_num": 1, "total_backend_num": 1})
        credentials = request.credentials()
        if credentials is None or not self._access.allows(*credentials):
            user = credentials[0] if credentials else ""
            return _reply(msg="Unauthorized", code=401, data=f"Access denied for {user}@{HOST}", count=0)
        match (request.method, parts):
            case ("PUT", ["api", _, _, "_stream_load"]):
                return self._redirect(request, *credentials)
            case ("GET", ["api", database, "get_load_state"]):
                return self._load_state(database, request.query.get("label", ""))
            case ("GET", ["api", "backends"]):
                backend = {"ip": HOST, "http_port": self._backend_port, "is_alive": True}
                return _success({"backends": [backend]})
        return Response(status=404, body=b"not found", content_type="text/plain")

    def _redirect(self, request: Request, user: str, password: str) -> Response:
        if "expect" not in request.headers:
            return _reply(status="FAILED", msg="There is no 100-continue header")
        port = _unused_port() if self._faults.hit("dead_backend") else self._backend_port
        userinfo = f"{quote(user, safe='')}:{quote(password, safe='')}"
        location = f"http://{userinfo}@{HOST}:{port}{quote(request.path)}?"
        return Response(status=307, location=location, content_type="text/plain")

    def _load_state(self, database: str, label: str) -> Response:
        if not label:
            return _reply(msg="Bad Request", code=403, data="No label selected.", count=0)
        if self._faults.hit("forgotten_label"):
            self._labels.free(database, label)
        return _success(self._labels.state(database, label))

    def _fault(self, request: Request) -> Response:
        """GET: what is armed. DELETE: arm nothing. POST: `{"name", "left", "table"}` arms one."""
        if request.method == "DELETE":
            self._faults.clear()
        elif request.method == "POST":
            try:
                self._faults.arm(msgspec.json.decode(request.body(), type=Armed))
            except (msgspec.MsgspecError, ValueError) as error:
                return Response(status=400, body=str(error).encode(), content_type="text/plain")
        return Response(body=msgspec.json.encode(self._faults.armed()))


def _success(data: object) -> Response:
    return _reply(msg="success", code=0, data=data, count=0)


def _reply(**fields: object) -> Response:
    return Response(body=msgspec.json.encode(fields))


def _unused_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        port: int = probe.getsockname()[1]
        return port
