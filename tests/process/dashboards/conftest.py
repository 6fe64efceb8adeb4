"""A local Doris with judged waits in it, and the page over it."""

from __future__ import annotations

import http.client
import json
from typing import NamedTuple

import pytest

from dashboards.app import Dashboards
from dashboards.settings import Settings
from dashboards.store import Store
from pipeline.doris import local
from pipeline.doris.local import Address
from pipeline.doris.settings import Settings as Doris
from sinks.doris import warehouse
from sinks.doris.child import launcher


class Answer(NamedTuple):
    """Status, headers in lower case, and the body, read if it is JSON."""

    status: int
    headers: dict[str, str]
    body: object


class Page:
    """A running page, asked over a real socket."""

    def __init__(self, stage: Dashboards) -> None:
        self.stage = stage
        self.url = stage.url
        self.port = int(stage.url.split(":")[2].split("/")[0])

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers=given)
            answer = connection.getresponse()
            body: object = answer.read()
            found = {name.lower(): value for name, value in answer.getheaders()}
            if body and "json" in found.get("content-type", ""):
                body = json.loads(body)
            return Answer(answer.status, found, body)
        finally:
            connection.close()

    def api(self, path: str, **headers: str) -> dict:
        """The object at a path of the API."""
        answer = self.get(f"/api/v1{path}", **headers)
        assert answer.status == 200, answer
        return answer.body


@pytest.fixture(scope="session")
def doris(tmp_path_factory):
    """Settings of a local Doris with the schema in it."""
    child = launcher()(tmp_path_factory.mktemp("doris"))
    settings = local.at(Doris(), Address(child.http_port, child.mysql_port))
    warehouse.apply_schema(settings)
    yield settings
    child.stop()


def store_of(doris: Doris, keep_s: float = 0.0) -> Store:
    """A reader with the limits of the defaults."""
    return Store(lambda: doris, keep_s=keep_s, timeout_s=30, max_connections=4, max_rows=20_000)


@pytest.fixture(scope="session")
def page(doris):
    """The page over that Doris, on a free port."""
    stage = Dashboards(Settings(port=0), store_of(doris))
    stage.start()
    yield Page(stage)
    stage.stop(10.0)
