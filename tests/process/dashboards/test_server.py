"""The page's server: its files, its headers, and what it says when the warehouse is away."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from dashboards.api.page import FOLDER
from dashboards.app import Dashboards, listen
from dashboards.asking.api import NOBODY
from dashboards.settings import Settings
from dashboards.store import Store
from pipeline.doris import local
from pipeline.doris.local import Address
from pipeline.doris.settings import Settings as Doris
from pipeline.errors import Unreachable, UserError
from pipeline.process.stage import Check
from sinks.doris import warehouse
from sinks.doris.child import launcher
from tests.process.dashboards.conftest import Page, store_of
from tests.support.waiting import Waiting


def nowhere():
    raise Unreachable("no local one is running", where="data/doris", fix="start `kube-collector up`")


def made(**settings):
    store = Store(nowhere, keep_s=0, timeout_s=5, max_connections=2, max_rows=100)
    return Dashboards(Settings(port=0, **settings), store)


@pytest.fixture
def run():
    """Starts stages, and stops them."""
    running = []

    def start(stage):
        stage.start()
        running.append(stage)
        return Page(stage)

    yield start
    for stage in running:
        stage.stop(10.0)


class Neighbour:
    """A stage that shows its inside."""

    name = "collector"

    def start(self): ...
    def stop(self, deadline_s): ...
    def checks(self):
        return [Check("collector", True)]

    def state(self):
        return {"cluster": "demo@replay", "replay": {"done": False}, "watches": [{"watch": "pods", "state": "replay"}]}


def wait_until(condition, what, limit_s=120.0):
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def test_without_a_warehouse_answers_say_what_to_do(run):
    answer = run(made()).get("/api/v1/jobs")
    assert (answer.status, answer.headers["content-type"]) == (503, "application/problem+json")
    assert answer.body == {
        "type": "urn:kube-collector:problem:unreachable", "title": "Service Unavailable", "status": 503,
        "detail": "data/doris: no local one is running", "instance": "/api/v1/jobs", "hint": "start `kube-collector up`",
    }  # fmt: skip
    assert answer.headers["retry-after"] and answer.headers["cache-control"] == "no-store"


def test_without_a_warehouse_the_pipeline_still_shows_the_stages_of_its_process(run):
    stage = made()
    stage.observe([Neighbour(), stage])
    body = run(stage).api("/pipeline")
    assert body["watches"] == [{"watch": "pods", "state": "replay"}]
    assert set(body["process"]) == {"collector"} and body["replay"] is True
    assert (body["stages"], body["dead_letters"], body["counters"]) == (None, None, None)
    assert "no local one is running" in body["warehouse"]


def test_without_a_warehouse_the_stage_is_alive_and_not_ready(run):
    stage = made()
    run(stage)
    wait_until(lambda: not all(check.ok for check in stage.checks()), "the probe never failed")
    failed = [check for check in stage.checks() if not check.ok]
    assert [(check.name, check.live) for check in failed] == [("dashboards warehouse", False)]


def test_a_taken_port_is_one_clear_error():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        stage = made()
        stage._settings = Settings(port=port)
        with pytest.raises(UserError) as caught:
            stage.start()
        stage.stop(1.0)
    assert f"port {port} on 127.0.0.1 is taken" in caught.value.what
    assert "--set dashboards.port=PORT" in caught.value.fix


def test_an_address_that_is_none_is_one_clear_error():
    with pytest.raises(UserError, match=r"cannot listen on 203\.0\.113\.7:0"):
        listen("203.0.113.7", 0)


def test_a_stopped_stage_frees_its_port_and_its_threads():
    before = set(threading.enumerate())
    stage = made()
    stage.start()
    port = Page(stage).port
    stage.stop(60.0)
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))
    left = set(threading.enumerate()) - before
    assert not [thread.name for thread in left if thread.name.startswith("dashboards")]


def test_browsers_are_held_to_the_pages_own_files(run):
    page = run(made())
    for path in ("/", "/api/v1/jobs", "/nothing"):
        headers = page.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff" and headers["server"].startswith("kube-collector/")


def test_what_is_not_there_is_a_problem(run):
    page = run(made())
    for path in ("/nothing", "/api/v1/nothing", "/assets/nothing.js", "/../settings.py", "/%2e%2e/settings.py"):
        answer = page.get(path)
        assert (answer.status, answer.body["type"]) == (404, "urn:kube-collector:problem:not_found"), path
    refused = page.get("/api/v1/jobs", method="POST")
    assert (refused.status, refused.headers["allow"]) == (405, "GET")


def test_head_is_get_without_the_body(run):
    page = run(made())
    for path in ("/", "/api/v1/pipeline", "/api/v1/jobs", "/nothing"):
        whole, head = page.get(path), page.get(path, method="HEAD")
        assert (head.status, head.body) == (whole.status, b""), path
        assert head.headers["content-type"] == whole.headers["content-type"]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8080", 200), ("LOCALHOST", 200), ("127.0.0.1:8080", 200), ("[::1]:8080", 200), ("10.1.2.3", 200),
        ("jobs.example.org", 200), ("a.team.example.org:443", 200), ("evil.example", 421), ("localhost.evil.example", 421),
        ("127.0.0.1.evil.example", 421), ("xjobs.example.org", 421), ("team.example.org", 421), ("2130706433", 421),
        (NOBODY, 421),
    ],
)  # fmt: skip
def test_only_names_of_ours_are_answered(host, status, run):
    page = run(made(hosts=["jobs.example.org", "*.team.example.org"]))
    answer = page.get("/api/v1/pipeline", Host=host)
    assert answer.status == status
    if status == 421:
        assert (
            answer.headers["content-type"] == "application/problem+json" and answer.headers["content-security-policy"]
        )
        assert "dashboards.hosts" in answer.body["hint"] and "watches" not in answer.body
        assert page.get("/", Host=host).status == 421


def test_a_star_lets_any_name_in_and_the_url_of_the_settings_is_one_of_ours(run):
    assert run(made(hosts=["*"])).get("/api/v1/pipeline", Host="any.example").status == 200
    page = run(made(url="https://jobs.example.org/kube"))
    assert page.get("/api/v1/pipeline", Host="jobs.example.org").status == 200
    assert page.get("/api/v1/pipeline", Host="any.example").status == 421


@pytest.fixture
def built(tmp_path):
    """A page as the build leaves it."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "index-abc123.js").write_text("1;" * 5000)
    (tmp_path / "index.html").write_text("<title>built</title>")
    (tmp_path / "favicon.svg").write_text("<svg/>")
    return tmp_path


def serving(folder, monkeypatch, **settings):
    from dashboards import app
    from dashboards.api.app import create

    monkeypatch.setattr(app, "create", lambda service, **given: create(service, **given, static=folder))
    return made(**settings)


def test_files_with_a_hash_are_kept_for_ever_and_the_rest_is_asked_for_again(run, built, monkeypatch):
    page = run(serving(built, monkeypatch))
    index = page.get("/")
    assert (index.status, index.body, index.headers["cache-control"]) == (200, b"<title>built</title>", "no-cache")
    script = page.get("/assets/index-abc123.js", Accept_Encoding="gzip")
    assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert "javascript" in script.headers["content-type"] and script.headers["content-encoding"] == "gzip"
    assert page.get("/favicon.svg").headers["content-type"] == "image/svg+xml"
    assert page.get("/", If_None_Match=index.headers["etag"]).status in (200, 304)


def test_a_page_that_is_not_built_says_how_to_build_it(run, tmp_path, monkeypatch):
    answer = run(serving(tmp_path / "none", monkeypatch)).get("/")
    assert answer.status == 503 and b"make web" in answer.body and b"api/v1/overview" in answer.body


@pytest.mark.parametrize("prefix", ["", "/kube"])
def test_below_a_path_everything_works_whether_the_proxy_strips_it_or_not(prefix, run, built, monkeypatch):
    page = run(serving(built, monkeypatch, root_path="/kube"))
    assert page.get(f"{prefix}/").body == b"<title>built</title>"
    assert page.get(f"{prefix}/assets/index-abc123.js").status == 200
    assert page.get(f"{prefix}/api/v1/pipeline").status == 200
    assert page.get(f"{prefix}/api/v1/jobs").status == 503
    assert page.stage.url.endswith("/kube")


def test_the_bare_path_leads_to_the_page(run, built, monkeypatch):
    answer = run(serving(built, monkeypatch, root_path="/kube")).get("/kube")
    assert (answer.status, answer.headers["location"]) == (308, "/kube/")


def test_the_committed_page_is_served(run):
    answer = run(made()).get("/")
    assert answer.status == (200 if (FOLDER / "index.html").is_file() else 503)
    assert answer.headers["content-type"].startswith("text/html")


def test_a_fault_is_a_problem_without_its_inside_and_the_server_goes_on(run, monkeypatch):
    from dashboards.figures import meta

    def broken(asked, lag_alarm_ms):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(meta, "made", broken)
    stage = made()
    monkeypatch.setattr(stage._store, "rows", lambda *a, **k: [])
    page = run(stage)
    answer = page.get("/api/v1/meta")
    assert answer.status == 500 and answer.body["detail"] == "unexpected ZeroDivisionError"
    assert "secret" not in str(answer.body)
    assert page.get("/api/v1/openapi.json").status == 200


def test_many_ask_at_once_and_all_are_answered(page):
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(page.get("/api/v1/meta").status)) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == [200] * 24


class Moving:
    """A local Doris that is ended and started again on other ports."""

    def __init__(self, folder):
        self._folder = folder
        self.start()

    def start(self):
        self.child = launcher()(self._folder)
        self.place = local.at(Doris(), Address(self.child.http_port, self.child.mysql_port))

    def stop(self):
        self.child.stop()


@pytest.fixture
def moving(tmp_path):
    made = Moving(tmp_path / "doris")
    yield made
    made.stop()


def test_a_local_doris_that_comes_back_on_other_ports_is_found_again(run, moving):
    warehouse.apply_schema(moving.place)
    waiting = Waiting("prod")
    waiting.wait(waiting.job("j"), 0)
    waiting.now(5)
    waiting.load(moving.place)
    store = Store(lambda: moving.place, keep_s=0, timeout_s=30, max_connections=2, max_rows=100)
    page = run(Dashboards(Settings(port=0), store))
    assert page.api("/jobs")["total"] == 1
    moving.stop()
    assert page.get("/api/v1/jobs").status == 503
    moving.start()
    wait_until(lambda: page.get("/api/v1/jobs").status == 200, "never found again")
    assert page.api("/jobs")["total"] == 1


def test_before_the_first_load_there_are_no_tables_and_the_page_says_so(run, doris):
    empty = doris.model_copy(update={"database": "nothing_here"})
    answer = run(Dashboards(Settings(port=0), store_of(empty))).get("/api/v1/jobs")
    assert answer.status == 503 and "no tables yet" in answer.body["detail"]
