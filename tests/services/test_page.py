"""The page in a real browser, over a pipeline that replays a recorded cluster.

The recording is played to its second 100 and then hardly on: one promise is broken and still waited for, others wait, most
jobs are placed. What the page says is compared with the API and the command line, not with texts of this file.
"""

from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import os
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support import browser as browsers
from tests.support.browser import Tab
from tests.support.cluster import free_port, poll
from tests.support.running import Pipeline

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]

RECORDING = Path(__file__).parent.parent.parent / "examples" / "kube-a"
PACE = "60x@100s,0.01x"
SCREENS = ("", "jobs", "reasons", "violations", "queues", "pipeline")


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    with browsers.launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def pipeline(chrome: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    folder = tmp_path_factory.mktemp("page") / "data"
    with Pipeline(folder, "--replay", str(RECORDING), "--speed", PACE, env={"LC_ALL": "C.UTF-8"}) as running:
        poll("a promise is broken", lambda: running.get("overview")["kept"]["violated_open"], 240)
        poll("the recording stands", lambda: stands(running), 240)
        poll("what the shadow decided has been judged", lambda: agrees(running), 240)
        yield running


def stands(running: Pipeline) -> bool:
    """Everybody has come to where it is played to, and there it is hardly played on."""
    stages = running.get("pipeline")
    at_ms = stages["process"]["collector"]["replay"]["at_ms"]
    return all(at_ms - ms < 2000 for ms in (stages["now_ms"], stages["process"]["scheduler"]["log_ms"]))


def agrees(running: Pipeline) -> bool:
    """Whether the reasons of waits are the shadow's: until it has come as far as the log, the past still changes."""
    (item,) = running.get("violations?state=open")["items"]
    why = running.get(f"jobs/{place(item['job'])}/why?uid={item['job']['uid']}")
    sees, now = why["scheduler"], why["now"]
    return sees is not None and (sees["reason"], sees["detail"]) == (now["reason"], now["detail"])


@pytest.fixture
def tab(chrome: Any, pipeline: Pipeline) -> Iterator[Tab]:
    """A tab on the page in English; at its end nothing must have complained, and nobody else have been asked."""
    opened = Tab(chrome, f"http://127.0.0.1:{pipeline.port}/")
    yield opened
    blameless(opened)


def blameless(opened: Tab) -> None:
    opened.close()
    assert opened.errors == []
    assert [url for url in opened.asked if not url.startswith((opened.base, "data:"))] == []


def place(job: dict[str, Any]) -> str:
    return "/".join(quote(job[part], safe="") for part in ("cluster", "namespace", "kind", "name"))


def route(job: dict[str, Any], **query: object) -> str:
    return f"#/jobs/{place(job)}?" + "&".join(f"{key}={value}" for key, value in {"uid": job["uid"], **query}.items())


@pytest.fixture
def broken(pipeline: Pipeline) -> dict[str, Any]:
    """The job whose promise is broken and that still waits."""
    (item,) = pipeline.get("violations?state=open")["items"]
    job: dict[str, Any] = item["job"]
    return job


@pytest.fixture(scope="module")
def varied(pipeline: Pipeline) -> dict[str, Any]:
    """The wait with the most parts among those with a promise."""
    rows = [row for row in pipeline.get("jobs?limit=500")["items"] if row["promise_ms"] and row["phase"] == "scheduled"]
    jobs = [pipeline.get(f"jobs/{place(row['job'])}?uid={row['job']['uid']}") for row in rows[:20]]
    found: dict[str, Any] = max(jobs, key=lambda job: len(job["episodes"][0]["segments"]))
    assert len(found["episodes"][0]["segments"]) >= 3
    return found


def test_the_overview_shows_the_figures_of_the_api(tab: Tab, pipeline: Pipeline) -> None:
    tab.open()
    tab.shows(lambda: tab.texts(".tile-value")[1:5], lambda: figures(pipeline))
    tab.shows(
        lambda: float(tab.texts(".tile-value")[0].removesuffix("%")), lambda: pytest.approx(kept(pipeline), abs=0.06)
    )
    tab.until("what the share is of", lambda: decided(pipeline) in tab.text(".tiles"))
    for title, part in (("Longest waits", "longest"), ("Broken lately", "recent_violations")):
        names = tab.page.get_by_role("region", name=title).locator(".joblink-name")
        tab.shows(
            names.all_inner_texts, lambda rows=part: [row["job"]["name"] for row in pipeline.get("overview")[rows]]
        )
    tab.until("it is said to be a replay", lambda: tab.text(".chip").startswith("Replay"))


def figures(pipeline: Pipeline) -> list[str]:
    said = pipeline.get("overview")
    numbers = said["kept"]["violated_open"], said["kept"]["at_risk"], said["waiting"]["jobs"], said["waiting"]["gpus"]
    return [str(number) for number in numbers]


def kept(pipeline: Pipeline) -> float:
    said = pipeline.get("overview")["kept"]
    return 100.0 * said["kept"] / (said["kept"] + said["violated_total"])


def decided(pipeline: Pipeline) -> str:
    said = pipeline.get("overview")["kept"]
    return f"{said['kept']} of {said['kept'] + said['violated_total']} decided"


def test_the_chart_is_drawn_and_has_a_twin_in_figures(tab: Tab, pipeline: Pipeline) -> None:
    tab.open("#/reasons")
    tab.until("the chart is drawn", lambda: colours(tab) > 8)
    tab.page.get_by_role("button", name="Show as table").click()

    def titles(part: str) -> list[str]:
        return [each["title"] for each in pipeline.get("reasons")[part]]

    tab.shows(lambda: tab.count(".scroll tbody tr"), lambda: len(pipeline.get("reasons")["buckets"]))
    tab.shows(lambda: tab.texts(".scroll thead th")[1:-1], lambda: titles("series"))
    tab.shows(lambda: tab.texts(".bars .reason-title"), lambda: titles("totals"))


def colours(tab: Tab) -> int:
    """How many colours the chart has."""
    return int(
        tab.page.evaluate(
            """() => {
                const canvas = document.querySelector(".chart canvas");
                if (!canvas) return 0;
                const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
                return new Set(pixels).size;
            }"""
        )
    )


def test_jobs_are_narrowed_sorted_and_searched_and_back_undoes_it(tab: Tab, pipeline: Pipeline) -> None:
    def waiting(reason: str = "") -> list[str]:
        rows = pipeline.get("jobs?phase=waiting")["items"]
        return sorted(row["job"]["name"] for row in rows if reason in ("", row["leading"]["reason"]))

    def shown() -> list[str]:
        return tab.texts(".jobs .joblink-name")

    tab.open("#/jobs")
    whole = pipeline.get("jobs?limit=100")
    assert whole["total"] == len(whole["items"])
    tab.shows(lambda: tab.count(".jobs tbody tr"), lambda: whole["total"])
    tab.page.get_by_text("Waiting", exact=True).first.click()
    tab.shows(lambda: sorted(shown()), waiting)
    assert tab.query() == {"phase": "waiting"}
    tab.page.get_by_label("Reason").select_option("insufficient_resource")
    tab.shows(lambda: sorted(shown()), lambda: waiting("insufficient_resource"))
    tab.page.go_back()
    tab.page.go_back()
    tab.shows(lambda: (tab.count(".jobs tbody tr"), tab.query()), lambda: (whole["total"], {}))
    tab.page.get_by_role("button", name="Job", exact=True).click()
    tab.until("the address has the order", lambda: tab.query() == {"sort": "-name"})
    tab.shows(shown, lambda: sorted(shown(), reverse=True))
    tab.page.keyboard.press("/")
    tab.page.keyboard.type("gang")
    tab.until("the search is over", lambda: tab.query().get("q") == "gang")
    tab.shows(shown, lambda: [row["job"]["name"] for row in pipeline.get("jobs?q=gang&sort=-name")["items"]])


def test_a_jobs_sentence_is_that_of_the_api_and_of_the_command(
    tab: Tab, pipeline: Pipeline, broken: dict[str, Any]
) -> None:
    tab.open(route(broken))
    path = f"jobs/{place(broken)}/why?uid={broken['uid']}"
    tab.until("page and API say the same", lambda: tab.text(".sentence") == pipeline.get(path)["sentence"])
    at = pipeline.get(path)["at_ms"]
    tab.open(route(broken, at=at))
    told = pipeline.told("why", broken["name"], "-n", broken["namespace"], "--at", rfc3339(at)).splitlines()[0]
    assert told == pipeline.get(f"{path}&at={at}")["sentence"]
    tab.until("the command asks about the moment", lambda: f"--at {rfc3339(at)}" in tab.text(".commands"))
    assert "promise, broken" in told
    tab.shows(lambda: tab.text(".sentence"), lambda: told)
    tab.shows(lambda: tab.text(".helps p"), lambda: pipeline.get(f"{path}&at={at}")["helps"][0])


def rfc3339(ms: int) -> str:
    from pipeline.records import times

    return times.format_ms(ms)


def test_the_bar_has_the_parts_the_promise_and_what_lies_past_it(
    tab: Tab, pipeline: Pipeline, broken: dict[str, Any]
) -> None:
    def episode() -> dict[str, Any]:
        (found,) = pipeline.get(f"jobs/{place(broken)}?uid={broken['uid']}")["episodes"]
        return dict(found)

    def promised() -> float:
        """Share of the wait."""
        one = episode()
        wait_ms = pipeline.get(f"jobs/{place(broken)}/why?uid={broken['uid']}")["wait_ms"]
        return float((one["deadline_ms"] - one["started_ms"]) / wait_ms)

    def drawn() -> tuple[float, float, float]:
        """Where the promise stands, as a share of the bar; from where to where what lies past it reaches."""
        promise, past, bar = (box(tab, each) for each in (".tl-promise", ".tl-past", ".tl-bar"))
        end = past["x"] + past["width"] - bar["x"] - bar["width"]
        return (promise["x"] - bar["x"]) / bar["width"], past["x"] - promise["x"], end

    tab.open(route(broken))
    parts = (".tl-part", ".tl-button", ".parts tbody tr")
    tab.shows(lambda: [tab.count(each) for each in parts], lambda: [len(episode()["segments"])] * 3)
    near = pytest.approx
    tab.shows(drawn, lambda: (near(promised(), abs=0.05), near(0, abs=3), near(0, abs=3)))
    assert tab.count(".tl-now") == 1


def box(tab: Tab, selector: str) -> dict[str, float]:
    found: dict[str, float] = tab.page.locator(selector).first.bounding_box()
    return found


def test_parts_bar_and_table_say_the_same(tab: Tab, varied: dict[str, Any]) -> None:
    episode = varied["episodes"][0]
    tab.open(route(varied["job"]))
    assert tab.count(".tl-part") == tab.count(".parts tbody tr") == len(episode["segments"])
    assert tab.texts(".parts tbody .reason-title") == [part["title"] for part in episode["segments"]]
    names = [button.get_attribute("aria-label") for button in tab.page.locator(".tl-button").all()]
    for name, part, row in zip(names, episode["segments"], tab.texts(".parts tbody tr td:nth-child(5)"), strict=True):
        assert part["title"] in name and f", {row}, " in name

    def seams() -> list[float]:
        boxes = [part.bounding_box() for part in tab.page.locator(".tl-part").all()]
        return [after["x"] - before["x"] - before["width"] for before, after in pairwise(boxes)]

    tab.shows(seams, lambda: [pytest.approx(0, abs=1)] * (len(episode["segments"]) - 1))


def test_the_bar_is_walked_with_keys(tab: Tab, varied: dict[str, Any]) -> None:
    parts = varied["episodes"][0]["segments"]
    tab.open(route(varied["job"]))
    tab.page.locator("#main").focus()
    for _ in range(20):
        tab.page.keyboard.press("Tab")
        if focused(tab).get("class", "").startswith("tl-button"):
            break
    assert focused(tab)["label"].startswith(f"Part 1 of {len(parts)}")
    tab.page.keyboard.press("ArrowRight")
    tab.until("the second part has it", lambda: focused(tab)["label"].startswith("Part 2 of"))
    tab.until("and is told", lambda: tab.text(".part h3").startswith(parts[1]["title"]))
    tab.until("and marked", lambda: tab.count(".parts tr.marked") == 1)
    tab.page.keyboard.press("End")
    tab.until("the last part has it", lambda: focused(tab)["label"].startswith(f"Part {len(parts)} of"))
    tab.page.keyboard.press("Home")
    tab.page.keyboard.press("Enter")
    tab.until("it is held", lambda: focused(tab)["pressed"] == "true" and tab.count(".part.held") == 1)
    tab.page.keyboard.press("Escape")
    tab.until("and let go", lambda: focused(tab)["pressed"] == "false")


def focused(tab: Tab) -> dict[str, str]:
    found: dict[str, str] = tab.page.evaluate(
        """() => {
            const on = document.activeElement;
            return { class: on.className, label: on.getAttribute("aria-label") ?? "", pressed: on.getAttribute("aria-pressed") ?? "" };
        }"""
    )
    return found


def test_the_handle_reads_the_answer_as_it_was_and_the_link_keeps_the_moment(
    tab: Tab, pipeline: Pipeline, varied: dict[str, Any]
) -> None:
    job = varied["job"]
    tab.open(route(job))
    latest = tab.text(".sentence")
    tab.page.get_by_role("slider").focus()
    for _ in range(2):
        before = tab.query()
        tab.page.keyboard.press("PageDown")
        tab.until("the address has the moment", lambda was=before: tab.query().get("at") != was.get("at"))
    tab.settled()
    path = f"jobs/{place(job)}/why?uid={job['uid']}&at={quote(tab.query()['at'])}"
    tab.until("the sentence is of that moment", lambda: tab.text(".sentence") == pipeline.get(path)["sentence"])
    assert tab.text(".sentence") != latest and tab.count(".as-of:not(.whole)") == 1
    tab.page.reload()
    tab.settled()
    tab.shows(lambda: tab.text(".sentence"), lambda: pipeline.get(path)["sentence"])
    tab.page.get_by_role("button", name="Back to the latest").click()
    tab.until("the latest is back", lambda: tab.text(".sentence") == latest)
    assert "at" not in tab.query()


def test_what_is_no_moment_in_the_address_is_said(tab: Tab, broken: dict[str, Any]) -> None:
    tab.open(route(broken, at="foo"))
    tab.until("it is told", lambda: "“foo” in the address is no moment" in tab.text(".note"))
    tab.until("the latest is shown", lambda: tab.text(".sentence").startswith("Waiting for"))
    tab.page.get_by_role("button", name="Take it out of the address").click()
    tab.until("the note is gone", lambda: tab.count(".note") == 0)
    tab.until("and what it was about", lambda: "at" not in tab.query())


def test_a_moment_before_the_job_is_said_without_asking(tab: Tab, broken: dict[str, Any]) -> None:
    tab.open(route(broken, at="2020-01-01T00:00:00Z"))
    assert "did not exist yet" in tab.text(".note")
    assert not [url for url in tab.asked if "/why?" in url]
    tab.page.get_by_role("button", name="Back to the latest").click()
    tab.until("the note is gone", lambda: tab.count(".note") == 0)
    tab.until("and the answer there", lambda: tab.text(".sentence").startswith("Waiting for"))


def test_waits_of_a_job_and_jobs_of_a_name_are_one_click_apart(tab: Tab, pipeline: Pipeline) -> None:
    rows = pipeline.get("jobs?limit=500")["items"]
    twice = next(row for row in rows if row["episodes"] == 2)
    tab.open(route(twice["job"]))
    assert tab.count(".waits button") == 2
    tab.page.locator(".waits button").first.click()
    tab.settled()
    path = f"jobs/{place(twice['job'])}/why?uid={twice['job']['uid']}&episode=1"
    tab.until("the first wait is told", lambda: tab.text(".sentence") == pipeline.get(path)["sentence"])
    assert tab.query()["episode"] == "1"
    names = [row["job"]["name"] for row in rows]
    reused = next(row["job"] for row in rows if names.count(row["job"]["name"]) == 3)
    tab.open(f"#/jobs/{place(reused)}")
    assert tab.texts(".waits-cause") == ["3 jobs of this name"]
    tab.page.locator(".waits > a").nth(1).click()
    second = sorted((row["job"]["uid"], row["created_ms"]) for row in rows if row["job"]["name"] == reused["name"])
    uid = sorted(second, key=lambda each: each[1])[1][0]
    tab.until("the address has its uid", lambda: tab.query().get("uid") == uid)
    tab.until("and so have the commands", lambda: f"--uid {uid}" in tab.text(".commands"))


def test_violations_are_narrowed_to_those_that_are_open(tab: Tab, pipeline: Pipeline) -> None:
    def names(*states: str) -> list[str]:
        return [item["job"]["name"] for item in pipeline.get("violations")["items"] if item["state"] in states]

    tab.open("#/violations")
    tab.shows(lambda: tab.texts(".joblink-name"), lambda: names("open", "resolved", "withdrawn"))
    tab.page.get_by_text("Open", exact=True).first.click()
    tab.shows(lambda: tab.texts("tbody .joblink-name"), lambda: names("open"))
    assert tab.query() == {"state": "open"}


def test_queues_lead_to_exactly_their_jobs(tab: Tab, pipeline: Pipeline) -> None:
    tab.open("#/queues")
    queues = pipeline.get("queues")["items"]
    tab.shows(lambda: tab.count("tbody tr"), lambda: len(queues))
    for at, queue in ((0, queues[0]), *((at, queue) for at, queue in enumerate(queues) if queue["queue"] == "main")):
        tab.open("#/queues")
        tab.page.locator("tbody .joblink-name").nth(at).click()
        tab.settled()
        tab.until("its jobs are listed", lambda jobs=queue["jobs"]: tab.text(".page-count") == f"{jobs} jobs")


def test_the_pipeline_shows_its_stages_its_watches_and_the_replay(tab: Tab, pipeline: Pipeline) -> None:
    def said(part: str, name: str) -> list[str]:
        return [each[name] for each in pipeline.get("pipeline")[part]]

    tab.open("#/pipeline")
    tab.shows(lambda: [name.split()[0] for name in tab.texts(".stage-name")], lambda: said("stages", "stage"))
    tab.shows(lambda: tab.texts(".names li"), lambda: said("watches", "watch"))
    assert "played" in tab.text(".replay") and "No dead letter" in tab.text(".empty")


def test_in_chinese_and_dark_everything_is_chinese_and_dark(
    chrome: Any, pipeline: Pipeline, broken: dict[str, Any]
) -> None:
    tab = Tab(chrome, f"http://127.0.0.1:{pipeline.port}/", lang="zh-CN", scheme="dark")
    tab.open(route(broken))
    path = f"jobs/{place(broken)}/why?uid={broken['uid']}&lang=zh"
    tab.until("page and API say the same", lambda: tab.text(".sentence") == pipeline.get(path)["sentence"])
    assert tab.page.locator("html").get_attribute("lang") == "zh-CN"
    assert tab.page.locator("html").get_attribute("data-theme") == "dark"
    background = tab.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert max(int(part) for part in background.removeprefix("rgb(").removesuffix(")").split(",")) < 40
    for screen in SCREENS:
        tab.open(f"#/{screen}")
        heads = " ".join(tab.texts("h1, h2, nav a, thead th")).replace("kube-collector", "").replace("GPU", "")
        assert not any(word.isascii() and word.isalpha() for word in heads.split()), heads
    tab.page.get_by_text("EN", exact=True).click()
    tab.until("it speaks English", lambda: tab.text("h1") == "Pipeline")
    tab.page.reload()
    tab.settled()
    tab.until("the choice is kept", lambda: tab.text("h1") == "Pipeline")
    blameless(tab)


def test_nothing_is_wider_than_a_telephone(
    chrome: Any, pipeline: Pipeline, broken: dict[str, Any], varied: dict[str, Any]
) -> None:
    tab = Tab(chrome, f"http://127.0.0.1:{pipeline.port}/", width=390)
    for each in (*(f"#/{screen}" for screen in SCREENS), route(broken), route(varied["job"])):
        tab.open(each)
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390, each
    blameless(tab)


def test_the_browser_is_told_to_run_nothing_but_the_pages_own_files(tab: Tab) -> None:
    answer = tab.page.goto(tab.base)
    policy = dict(each.split(" ", 1) for each in answer.headers["content-security-policy"].split("; "))
    assert (policy["default-src"], policy["script-src"], policy["connect-src"]) == ("'none'", "'self'", "'self'")
    assert not any("unsafe" in each or "*" in each or "http" in each for each in policy.values())
    tab.settled()
    tab.page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = 1' }))"
    )
    tab.until("it is told", lambda: any("Content Security Policy" in error for error in tab.errors))
    assert tab.page.evaluate("window.ran") is None
    refused = [error for error in tab.errors if "Content Security Policy" in error]
    tab.errors = [error for error in tab.errors if error not in refused]
    assert len(refused) == 1


def test_a_cluster_of_which_nothing_is_known_is_said_to_be_empty(tab: Tab) -> None:
    for screen in ("", "jobs", "reasons", "violations", "queues"):
        tab.open(f"#/{screen}?cluster=nobody")
        tab.until(f"{screen} is empty", lambda: tab.count(".empty") >= 1 and tab.count(".note") == 0)


class Proxy(http.server.BaseHTTPRequestHandler):
    """Shows a server below /kube, with that part taken off."""

    upstream = 0
    refused: list[str]

    def do_GET(self) -> None:
        if not self.path.startswith("/kube/"):
            self.refused.append(self.path)
            self.send_error(404)
            return
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.upstream, timeout=60)) as connection:
            connection.request("GET", self.path.removeprefix("/kube"), headers=dict(self.headers))
            answer = connection.getresponse()
            body = answer.read()
        with contextlib.suppress(ConnectionError):  # the page lets go of what it asked for when it is left
            self._pass_on(answer, body)

    def _pass_on(self, answer: http.client.HTTPResponse, body: bytes) -> None:
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


class Dash:
    """`kube-collector dash` over the pipeline's data, as a process of its own."""

    def __init__(self, data: Path, *arguments: str) -> None:
        self.port = free_port()
        self._command = [
            sys.executable, "-m", "pipeline.cli.main", "dash", "--port", str(self.port), "--set", f"data_dir={data}", *arguments,
        ]  # fmt: skip
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ)
        )
        poll("the page answers", self._answers, 240)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/overview", timeout=60) as answer:
                return bool(json.load(answer)["longest"])
        except OSError:
            return False


def test_below_a_path_behind_a_proxy_everything_works(chrome: Any, pipeline: Pipeline, broken: dict[str, Any]) -> None:
    dash = Dash(pipeline.data, "--set", "dashboards.root_path=/kube")
    handler = type("Handler", (Proxy,), {"upstream": dash.port, "refused": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        try:
            dash.start()
            tab = Tab(chrome, f"http://127.0.0.1:{proxy.server_address[1]}/kube/")
            tab.open()
            tab.until("the figures are there", lambda: tab.count(".tile") == 6)
            tab.until("the chart is drawn", lambda: colours(tab) > 8)
            tab.page.get_by_role("link", name=broken["name"]).first.click()
            tab.until("the answer is there", lambda: tab.text(".sentence").startswith("Waiting for"))
            tab.page.go_back()
            tab.until("back on the overview", lambda: tab.count(".tile") == 6)
            blameless(tab)
            assert handler.refused == []
        finally:
            dash.stop()
            proxy.shutdown()


_ASK_AFTER_A_CLICK = """() => {
    const ask = window.fetch;
    window.fetch = () => Promise.reject(new TypeError("held back"));
    addEventListener("click", () => { window.fetch = ask; }, { capture: true, once: true });
}"""
"""The page asks again by itself too, and the button would be gone before it is found."""


def test_when_the_server_goes_away_the_last_picture_stays_grey_and_comes_back_with_it(
    chrome: Any, pipeline: Pipeline
) -> None:
    dash = Dash(pipeline.data)
    tab = Tab(chrome, f"http://127.0.0.1:{dash.port}/")
    try:
        for screen in ("", "queues"):
            dash.start()
            tab.open(f"#/{screen}")
            tab.until("the picture is there", lambda: tab.count("tbody tr") > 0 and tab.count(".dim") == 0)
            before = tab.count("tbody tr")
            dash.stop()
            tab.until("it says so", lambda: tab.count(".note[role=alert]") > 0)
            assert "The server does not answer" in tab.text(".note") and "last picture" in tab.text(".note")
            assert tab.count("tbody tr") == before and tab.count(".dim") >= 1
            tab.shows(lambda: tab.text(".follow"), lambda: "No connection")
        tab.page.evaluate(_ASK_AFTER_A_CLICK)
        dash.start()
        tab.page.get_by_role("button", name="Try again").first.click()
        tab.until("it is well again", lambda: tab.count(".note") == 0 and tab.count(".dim") == 0)
        tab.shows(lambda: tab.text(".follow"), lambda: "Live")
    finally:
        dash.stop()
        tab.close()
    cut_off = (
        "ERR_CONNECTION",
        "ERR_INCOMPLETE",
        "ERR_EMPTY_RESPONSE",
        "ERR_CONTENT_LENGTH",
        "dynamically imported module",
    )
    assert [error for error in tab.errors if not any(word in error for word in cut_off)] == []
