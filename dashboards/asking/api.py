"""Answers over HTTP, with the standard library alone."""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from dashboards.address import SERVER
from dashboards.asking.source import Answer
from dashboards.filters import Filters, Named
from pipeline.errors import BadUsage, NotFound, Unreachable, UserError

TIMEOUT_S = 30.0
PROBE_S = 1.0
_ERRORS: dict[int, type[UserError]] = {
    400: BadUsage,
    404: NotFound,
    502: Unreachable,
    503: Unreachable,
    504: Unreachable,
}

Query = Mapping[str, str | int | tuple[str, ...] | None]


class Api:
    """A `Source` at an address; one connection, kept between questions. Raises UserError for an address that is none."""

    def __init__(self, url: str, lang: str) -> None:
        parts = urlsplit(url if "//" in url else f"http://{url}")
        try:
            port, host = parts.port, parts.hostname
        except ValueError:
            host = None
        if parts.scheme not in ("http", "https") or not host:
            raise BadUsage(f"{url!r} is no address of a page", fix="Write http://host:8080, or with a path behind it.")
        self.url = parts.geturl().rstrip("/")
        self._path = parts.path.rstrip("/").removesuffix("/api/v1")
        self._lang = lang
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(host, port, timeout=TIMEOUT_S)

    def is_ours(self) -> bool:
        """Whether the page of this product answers there, at once."""
        self._connection.timeout = PROBE_S
        try:
            _, server, _ = self._exchange("")
        except Unreachable:
            return False
        finally:
            self._connection.timeout = TIMEOUT_S
        return server.startswith(SERVER)

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def jobs(self, filters: Filters, sort: str, limit: int, cursor: str | None) -> Answer:
        return self._get("/jobs", {**_of(filters), "sort": sort, "limit": limit, "cursor": cursor})

    def job(self, named: Named) -> Answer:
        return self._get(_place(named), {"uid": named.uid or None})

    def why(self, named: Named, at_ms: int | None) -> Answer:
        return self._get(
            f"{_place(named)}/why",
            {"uid": named.uid or None, "at": at_ms, "rebuild": None if at_ms is None else "true"},
        )

    def violations(self, filters: Filters, limit: int, cursor: str | None) -> Answer:
        return self._get("/violations", {**_of(filters), "limit": limit, "cursor": cursor})

    def queues(self, filters: Filters) -> Answer:
        return self._get("/queues", _of(filters))

    def reasons(self, filters: Filters, from_ms: int | None, to_ms: int | None, unit: str) -> Answer:
        return self._get("/reasons", {**_of(filters), "from": from_ms, "to": to_ms, "unit": unit})

    def _get(self, path: str, query: Query) -> Answer:
        texts = {name: ",".join(value) if isinstance(value, tuple) else value for name, value in query.items()}
        given = {name: value for name, value in texts.items() if value not in (None, "")}
        given["lang"] = self._lang
        status, _, body = self._exchange(f"{path}?{urlencode(given)}")
        try:
            answer = msgspec.json.decode(body)
        except msgspec.DecodeError:
            answer = None
        if status == 200 and isinstance(answer, dict):
            return cast(Answer, answer)
        raise self._failure(status, answer)

    def _exchange(self, path: str) -> tuple[int, str, bytes]:
        """(status, server, body). A connection that the server closed meanwhile is opened once more."""
        target = f"{self._path}/api/v1{path}"
        try:
            try:
                return self._once(target)
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                self._connection.close()
                return self._once(target)
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise Unreachable(
                f"the page does not answer: {getattr(error, 'strerror', None) or error or type(error).__name__}",
                where=self.url,
                fix="Start `kube-collector up` or `kube-collector dash`, or name another address with --url.",
            ) from error

    def _once(self, target: str) -> tuple[int, str, bytes]:
        self._connection.request("GET", target, headers={"Accept": "application/json"})
        answer = self._connection.getresponse()
        return answer.status, answer.getheader("Server", ""), answer.read()

    def _failure(self, status: int, answer: Any) -> UserError:
        if isinstance(answer, dict) and "detail" in answer:
            return _ERRORS.get(status, UserError)(str(answer["detail"]), fix=answer.get("hint"))
        return _ERRORS.get(status, UserError)(
            f"the answer is none of kube-collector's (status {status})", where=self.url, fix="Check the address."
        )


def _place(named: Named) -> str:
    return "/jobs/" + "/".join(quote(part, safe="") for part in named[:4])


def _of(filters: Filters) -> dict[str, str | int | tuple[str, ...] | None]:
    names = [name for name in filters.__struct_fields__ if name != "text"]
    return {**{name: getattr(filters, name) for name in names}, "q": filters.text}
