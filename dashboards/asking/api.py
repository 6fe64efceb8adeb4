"""Answers over HTTP, with the standard library alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

from dashboards.address import SERVER
from dashboards.asking import wire
from dashboards.asking.source import Answer
from dashboards.asking.wire import Got, Place
from dashboards.filters import Filters, Wanted
from pipeline.errors import BadUsage, NotFound, Unreachable, UserError

TIMEOUT_S = 30.0
PROBE_S = 1.0
CHECK_S = 3.0
"""For a plain question while the true one is not answered: with `wire.QUIET_S` the time until a silent port is told."""
_ERRORS: dict[int, type[UserError]] = {
    400: BadUsage,
    404: NotFound,
    422: BadUsage,
    502: Unreachable,
    503: Unreachable,
    504: Unreachable,
}

NOBODY = "nobody.invalid"
"""A name that no page may have."""

Query = Mapping[str, str | int | tuple[str, ...] | None]


class Api:
    """A `Source` at an address. Raises BadUsage for an address that is none."""

    def __init__(self, url: str, lang: str) -> None:
        parts = urlsplit(url if "//" in url else f"http://{url}")
        try:
            port, host = parts.port, parts.hostname
        except ValueError:
            port, host = None, None
        if parts.scheme not in ("http", "https") or not host:
            raise BadUsage(f"{url!r} is no address of a page", fix="Write http://host:8080, or with a path behind it.")
        self.url = parts.geturl().rstrip("/")
        self._path = parts.path.rstrip("/").removesuffix("/api/v1")
        self._lang = lang
        tls = parts.scheme == "https"
        self._place = Place(host, port or (443 if tls else 80), tls, parts.netloc.rpartition("@")[2])

    def is_ours(self) -> bool:
        """Whether the page of this product answers there, at once."""
        try:
            return self._exchange("", PROBE_S).headers.get("server", "").startswith(SERVER)
        except Unreachable:
            return False

    def close(self) -> None:
        """Nothing to end: each question has a connection of its own."""

    def jobs(self, filters: Filters, sort: str, limit: int, cursor: str | None) -> Answer:
        return self._get("/jobs", {**_of(filters), "sort": sort, "limit": limit, "cursor": cursor})

    def job(self, wanted: Wanted) -> Answer:
        return self._get("/job", _called(wanted))

    def why(self, wanted: Wanted, at_ms: int | None) -> Answer:
        return self._get("/why", {**_called(wanted), "at": at_ms, "rebuild": None if at_ms is None else "true"})

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
        status, _, body = self._exchange(f"{path}?{urlencode(given)}", TIMEOUT_S, self._is_there)
        try:
            answer = json.loads(body)
        except ValueError:
            answer = None
        if status == 200 and isinstance(answer, dict):
            return cast(Answer, answer)
        raise self._failure(status, answer)

    def _exchange(self, path: str, timeout_s: float, somebody: Callable[[], bool] | None = None) -> Got:
        try:
            return wire.get(self._place, f"{self._path}/api/v1{path}", timeout_s, somebody)
        except OSError as error:
            raise Unreachable(
                f"the page does not answer: {error.strerror or error or type(error).__name__}",
                where=self.url,
                fix="Start `kube-collector up` or `kube-collector dash`, or name another address with --url.",
            ) from error

    def _is_there(self) -> bool:
        """Whether anything reacts to a plain question. It is asked under a name that no page has: that is refused before a
        thread of the page has to be free, however many long answers it works on."""
        try:
            wire.get(self._place._replace(shown_host=NOBODY), f"{self._path}/api/v1", CHECK_S)
        except TimeoutError:
            return False
        except OSError:
            return True
        return True

    def _failure(self, status: int, answer: Any) -> UserError:
        if isinstance(answer, dict) and "detail" in answer:
            return _ERRORS.get(status, UserError)(str(answer["detail"]), fix=answer.get("hint"))
        return _ERRORS.get(status, UserError)(
            f"the answer is none of kube-collector's (status {status})", where=self.url, fix="Check the address."
        )


def _called(wanted: Wanted) -> Query:
    return {
        "job": wanted.text,
        "cluster": wanted.cluster,
        "namespace": wanted.namespace,
        "kind": wanted.kind,
        "uid": wanted.uid,
    }


def _of(filters: Filters) -> dict[str, str | int | tuple[str, ...] | None]:
    given = filters._asdict()
    given["q"] = given.pop("text")
    return given
