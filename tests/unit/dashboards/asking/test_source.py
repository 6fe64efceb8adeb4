"""Whom the commands ask, and what they make of answers that go wrong."""

from __future__ import annotations

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from dashboards import address
from dashboards.asking import api as api_
from dashboards.asking import source, wire
from dashboards.asking.api import Api
from dashboards.asking.direct import Direct
from dashboards.asking.source import Whom
from dashboards.filters import Filters, Wanted
from pipeline.errors import BadUsage, NotFound, Unreachable, UserError

PORT_VARIABLE = "KUBE_COLLECTOR__DASHBOARDS__PORT"


class Page:
    """A server that notes what it is asked and answers what it is told."""

    def __init__(self):
        self.asked, self.called = [], []
        self.slow, self.asked_after = "-", threading.Event()
        self.status, self.body, self.server_name, self.drops = 200, b'{"items": []}', "kube-collector/1", 0
        page = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                page.asked.append(self.path)
                page.called.append(self.headers["Host"])
                if self.path.startswith(page.slow):
                    page.asked_after.wait(60)
                elif page.slow != "-":
                    page.asked_after.set()
                if page.drops:
                    page.drops -= 1
                    self.close_connection = True
                    return
                self.send_response_only(page.status)
                self.send_header("Server", page.server_name)
                self.send_header("Content-Length", str(len(page.body)))
                self.end_headers()
                self.wfile.write(page.body)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.port = self.http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.05,))
        self.thread.start()

    def stop(self):
        if self.thread.is_alive():
            self.http.shutdown()
            self.http.server_close()
            self.thread.join()


@pytest.fixture
def page(monkeypatch):
    """One that is asked with patience: on a busy machine it is slow and not silent."""
    for module, name in ((wire, "QUIET_S"), (api_, "CHECK_S"), (api_, "PROBE_S")):
        monkeypatch.setattr(module, name, 60.0)
    made = Page()
    yield made
    made.stop()


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch, tmp_path):
    """No settings file, no variable, and a default page that nobody serves."""
    monkeypatch.chdir(tmp_path)
    for name in (source.VARIABLE, "KUBE_COLLECTOR_CONFIG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def api():
    """Makes a source at an address, and closes it."""
    made = []

    def make(url, lang="en"):
        made.append(Api(url, lang))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def find():
    """Finds a source, and closes it."""
    made = []

    def look(**given):
        made.append(source.find(whom(**given)))
        return made[-1]

    yield look
    for each in made:
        each.close()


def whom(url=None, sets=None, config=None):
    return Whom(url, config, sets, "en")


def test_the_given_address_is_asked_with_escaped_names_and_language(page, api):
    api(page.url + "/", "zh").why(Wanted("x/y & z", ("demo@replay",), ("a b", "c")), 5)
    parts = urlsplit(page.asked[0])
    assert parts.path == "/api/v1/why"
    assert parse_qs(parts.query) == {
        "job": ["x/y & z"], "cluster": ["demo@replay"], "namespace": ["a b,c"], "at": ["5"], "rebuild": ["true"], "lang": ["zh"],
    }  # fmt: skip


def test_filters_go_as_they_are_and_empty_ones_do_not(page, api):
    api(page.url).jobs(Filters(namespace=("a", "b"), text="x"), "-wait", 10, None)
    query = parse_qs(urlsplit(page.asked[0]).query)
    assert query == {"namespace": ["a,b"], "q": ["x"], "sort": ["-wait"], "limit": ["10"], "lang": ["en"]}


@pytest.mark.parametrize("path", ["", "/", "/kube/", "/kube/api/v1"])
def test_a_page_below_a_path_is_asked_below_it(page, path, api):
    api(page.url + path).queues(Filters())
    assert page.asked[0].startswith(("/kube" if "kube" in path else "") + "/api/v1/queues?")


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [(404, NotFound, 4), (400, BadUsage, 2), (422, BadUsage, 2), (503, Unreachable, 6), (500, UserError, 1)],
)
def test_a_problem_becomes_the_error_of_its_kind_with_its_hint(page, status, kind, code, api):
    page.status, page.body = status, msgspec.json.encode({"detail": "no such job", "hint": "look again"})
    with pytest.raises(kind) as caught:
        api(page.url).queues(Filters())
    assert (caught.value.what, caught.value.fix, caught.value.exit_code) == ("no such job", "look again", code)


def test_an_answer_of_another_program_is_no_answer(page, api):
    page.body = b"<html>hello</html>"
    with pytest.raises(UserError, match="none of kube-collector's"):
        api(page.url).queues(Filters())


def test_a_connection_closed_without_an_answer_is_no_answer(page, api):
    page.drops = 1
    with pytest.raises(Unreachable, match="closed without an answer"):
        api(page.url).queues(Filters())


def test_an_address_where_nobody_answers_is_named(page, api):
    page.stop()
    with pytest.raises(Unreachable) as caught:
        api(page.url).queues(Filters())
    assert caught.value.where == page.url and "--url" in caught.value.fix


def test_a_port_that_says_nothing_is_told_soon(monkeypatch):
    monkeypatch.setattr(wire, "QUIET_S", 0.05)
    monkeypatch.setattr(api_, "CHECK_S", 0.05)
    said = pytest.raises(Unreachable, match="takes the connection and says nothing")
    with socket.create_server(("127.0.0.1", 0)) as silent, said as caught:  # the system takes them, nobody reads
        Api(f"http://127.0.0.1:{silent.getsockname()[1]}", "en").queues(Filters())
    assert "--url" in caught.value.fix


def test_a_silent_port_is_told_within_five_seconds():
    assert wire.CONNECT_S <= 5 and wire.QUIET_S + api_.CHECK_S <= 5


def test_a_long_answer_of_a_page_that_is_there_is_waited_for(page, api, monkeypatch):
    monkeypatch.setattr(wire, "QUIET_S", 0.05)
    monkeypatch.setattr(api_, "CHECK_S", 60.0)
    page.slow = "/api/v1/queues"
    assert api(page.url).queues(Filters()) == {"items": []}
    assert [path.split("?")[0] for path in page.asked] == ["/api/v1/queues", "/api/v1"]
    assert page.called == [f"127.0.0.1:{page.port}", api_.NOBODY], "refused without a thread of the page's own"


@pytest.mark.parametrize("bad", ["ftp://x", "http://", "http://x:99999", "http://x:y"])
def test_what_is_no_address_is_refused(bad):
    with pytest.raises(BadUsage, match="is no address"):
        Api(bad, "en")


def test_an_address_may_leave_out_the_scheme(page, api):
    assert api(f"127.0.0.1:{page.port}").queues(Filters()) == {"items": []}


def test_the_option_comes_before_the_variable_before_the_setting(page, monkeypatch, find):
    monkeypatch.setenv(source.VARIABLE, "http://variable:1")
    assert find(url="http://option:1").url == "http://option:1"
    assert find().url == "http://variable:1"
    monkeypatch.delenv(source.VARIABLE)
    assert find(sets=["dashboards.url=http://setting:1"]).url == "http://setting:1"


def test_this_machines_page_is_asked_on_the_port_that_is_set(page, monkeypatch, find):
    assert find(sets=[f"dashboards.port={page.port}"]).url == page.url
    monkeypatch.setattr(address, "PORT", page.port)
    assert find().url == page.url


def test_a_folder_that_the_command_line_names_comes_before_any_page_but_a_named_one(page, monkeypatch, find, tmp_path):
    monkeypatch.setenv(PORT_VARIABLE, str(page.port))
    folder = f"data_dir={tmp_path / 'other'}"
    assert isinstance(find(sets=[folder]), Direct)
    monkeypatch.setenv(source.VARIABLE, "http://variable:1")
    assert isinstance(find(sets=[folder]), Direct)
    assert find(url="http://option:1", sets=[folder]).url == "http://option:1"
    monkeypatch.delenv(source.VARIABLE)
    assert find(sets=[folder, f"dashboards.port={page.port}"]).url == page.url
    assert find(sets=[folder, "doris.frontend=fe:8030"]).url == page.url, "the folder says nothing about that warehouse"


def test_a_folder_that_is_named_and_has_no_doris_is_told_and_nobody_else_answers(page, monkeypatch, find, tmp_path):
    monkeypatch.setenv(PORT_VARIABLE, str(page.port))
    with pytest.raises(Unreachable, match="no local one is running") as caught:
        find(sets=[f"data_dir={tmp_path / 'other'}"]).queues(Filters())
    assert "other" in caught.value.where and page.asked == []


def test_another_program_on_the_port_is_not_asked_but_the_warehouse(page, monkeypatch, find):
    page.server_name = "nginx"
    monkeypatch.setattr(address, "PORT", page.port)
    assert isinstance(find(), Direct)


def test_without_a_page_the_warehouse_is_asked_and_its_absence_explained(page, monkeypatch, find):
    monkeypatch.setattr(address, "PORT", page.port)
    page.server_name = "nginx"
    with pytest.raises(Unreachable, match="no local one is running") as caught:
        find().queues(Filters())
    assert "kube-collector up" in caught.value.fix
