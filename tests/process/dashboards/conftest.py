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
from tests.support.waiting import DAY_MS, MINUTE_MS, Waiting


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


def at(minute):
    return DAY_MS + round(minute * MINUTE_MS)


@pytest.fixture(scope="module")
def cluster(doris):
    """Three jobs: one that waits and broke its promise, one that waited twice, one that is about to break its promise."""
    made = Waiting("prod")
    llama = made.job("train-llama", namespace="research", kind="VolcanoJob")
    made.wait(llama, 0, leading_reason="quota", leading_detail="queue_refused", leading_share=0.7)
    made.part(llama, 1, 0, 31, "quota", detail="queue_refused", resource="nvidia.com/gpu")
    made.part(
        llama, 2, 31, None, "insufficient_resource", resource="nvidia.com/gpu", nodes=2, total_nodes=2,
        message="0/2 nodes are available", also='["untolerated_taint"]',
    )  # fmt: skip
    made.violation(llama, 30)
    made.hour(llama, 0, "quota", 31 * MINUTE_MS)
    eval_ = made.job("eval")
    made.wait(eval_, 0, 10, leading_reason="scheduler_backlog", leading_share=1.0)
    made.part(eval_, 1, 0, 10, "scheduler_backlog")
    made.wait(eval_, 20, 45, episode=2, cause="preempted", leading_reason="outranked", leading_share=1.0)
    made.part(eval_, 1, 20, 45, "outranked", episode=2)
    made.hour(eval_, 1, "scheduler_backlog", 10 * MINUTE_MS)
    late = made.job("late_100%", queue="speech", tenant="speech")
    made.wait(late, 20, promise_ms=30 * MINUTE_MS, sla="at_risk", gpus=8)
    made.part(late, 1, 20, None, "node_affinity")
    made.now(47)
    made.now(46.5, stage="loader")
    _event(made, "e1", 1, 1, "FailedScheduling")
    _event(made, "e1", 2, 4, "FailedScheduling")
    _event(made, "e2", 1, 1, "Queued")
    made.load(doris)
    return made


def _event(made, uid, sight, count, reason):
    made.add(
        "event", day=DAY_MS, uid=uid, object_version=str(sight), job_uid="uid-train-llama", reason=reason, count=count,
        message=f"sight {sight}", component="scheduler", regarding_kind="Pod", regarding_namespace="research",
        regarding_name="p-0", last_us=at(sight) * 1000, observed_at=at(sight), type="Warning",
    )  # fmt: skip
