"""What a scheduler sees of a job, on the page: in both languages, now and at a moment that was made anew from the log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from dashboards.app import Dashboards
from dashboards.settings import Settings
from pipeline.doris import local
from pipeline.doris.local import Address
from pipeline.doris.settings import Settings as Doris
from pipeline.records.decisions import Decision
from sinks.doris import warehouse
from sinks.doris.child import launcher
from tests.process.dashboards.conftest import store_of
from tests.support import browser as browsers
from tests.support.browser import Tab
from tests.support.waiting import DAY_MS, MINUTE_MS, Waiting

pytestmark = pytest.mark.services

JOB = "#/jobs/prod/research/Job/train"
SETS = (
    {"filters": ["NodeResourcesFit/nvidia.com/gpu"], "nodes": 12},
    {"filters": ["TaintToleration"], "nodes": 5},
    {"filters": ["NodeResourcesFit/nvidia.com/gpu", "TaintToleration"], "nodes": 3},
)
HELP = "it would fit on node gpu-7 if 2 more nvidia.com/gpu were free there, or if it asked for that much less"


def at(minute: int) -> int:
    return DAY_MS + minute * MINUTE_MS


def explain(cluster: str, job: object, at_ms: int) -> list[Decision]:
    """Stands for a rebuild from the log, which has tests of its own."""
    message = "queue q holds all that it deserves of what is asked"
    return [
        Decision(source="shadow", policy="p", session_ms=at_ms, kind="attribution", reason="quota", message=message)
    ]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboards]:
    """A job that waits, with a decision from its sixth minute on."""
    child = launcher()(tmp_path_factory.mktemp("doris"))
    doris = local.at(Doris(), Address(child.http_port, child.mysql_port))
    warehouse.apply_schema(doris)
    made = Waiting("prod")
    job = made.job("train", namespace="research")
    made.wait(job, 0)
    made.part(job, 1, 0, None, "insufficient_resource", resource="nvidia.com/gpu")
    made.now(40)
    made.add(
        "decision", day=DAY_MS, id="d", source="shadow", policy="volcano", job_uid=job["job_uid"], kind="attribution",
        session_at=at(6), reason="insufficient_resource", resource="nvidia.com/gpu", nodes=15, total_nodes=20,
        failure_sets=json.dumps(SETS), helps=json.dumps([HELP]), message="0/20 nodes take it",
    )  # fmt: skip
    made.load(doris)
    stage = Dashboards(Settings(port=0), store_of(doris), explain=explain)
    stage.start()
    yield stage
    stage.stop(10.0)
    child.stop()


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    with browsers.launched() as browser:
        yield browser


def opened(chrome: Any, page: Dashboards, query: str = "", width: int = 1280, scheme: str = "light") -> Tab:
    tab = Tab(chrome, f"{page.url}/", width=width, scheme=scheme)
    tab.open(f"{JOB}{query}")
    tab.page.wait_for_selector(".sees")
    return tab


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nodes_are_bars_with_their_counts_and_what_they_lack(chrome: Any, page: Dashboards, lang: str) -> None:
    tab = opened(chrome, page, f"?lang={lang}")
    tab.shows(lambda: tab.texts(".sees-count"), lambda: ["12", "5", "3"])
    lack = {"en": "lack nvidia.com/gpu and have an untolerated taint", "zh": "缺少 nvidia.com/gpu 且有未容忍的污点"}
    assert tab.texts(".sees-lack")[2].strip() == lack[lang]
    widths = [each.bounding_box()["width"] for each in tab.page.locator(".sees .bars-track > span").all()]
    assert widths[0] > widths[1] > widths[2] > 0
    assert ("would fit on node gpu-7" in tab.text(".helps")) == (lang == "en") and "gpu-7" in tab.text(".helps")
    tab.close()
    assert tab.errors == []


def test_a_moment_without_a_stored_decision_is_made_anew_when_asked_for(chrome: Any, page: Dashboards) -> None:
    tab = opened(chrome, page, "?at=2026-01-01T00:03:00Z")
    tab.until("there is none", lambda: "No decision" in tab.text(".sees"))
    tab.page.click(".sees .link")
    tab.page.wait_for_selector(".sees-said")
    assert "made anew from the log" in tab.text(".sees") and "queue q holds all" in tab.text(".sees-message")
    tab.close()
    assert tab.errors == []


@pytest.mark.parametrize("width", [390, 1280])
def test_the_block_fits_its_window(chrome: Any, page: Dashboards, width: int) -> None:
    tab = opened(chrome, page, "?lang=en", width=width, scheme="dark")
    inside = "document.documentElement.scrollWidth <= window.innerWidth"
    assert tab.page.evaluate(inside)
    tab.close()
