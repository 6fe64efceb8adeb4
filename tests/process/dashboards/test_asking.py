"""The commands as a person runs them: output, exit codes, both ways to the answer."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from dashboards.asking import wire
from pipeline.cli import main
from pipeline.doris import local
from tests.support.waiting import DAY_MS, MINUTE_MS, Waiting

ODD = ("job-%41_[名]", "a+b&c=d?e#f", "'; DROP TABLE job_wait; --", "x" * 500)


@pytest.fixture(scope="module")
def told(doris):
    """A cluster with jobs of one name in two namespaces."""
    made = Waiting("asked")
    llama = made.job("train-llama", namespace="research", kind="VolcanoJob")
    made.wait(llama, 0)
    made.part(llama, 1, 0, None, "quota", detail="queue_refused", resource="nvidia.com/gpu")
    made.violation(llama, 30)
    for namespace in ("team-a", "team-b"):
        job = made.job("eval", namespace=namespace, uid=namespace)
        made.wait(job, 0, 10)
        made.part(job, 1, 0, 10, "scheduler_backlog")
    made.now(47)
    made.load(doris)
    return made


@pytest.fixture(scope="module")
def odd(doris):
    """A cluster with three jobs of one name one after the other, and with names that no text may trip over."""
    made = Waiting("odd")
    for number, (start, end) in enumerate(((0, 5), (20, 30), (40, None)), 1):
        life = made.job("lives", uid=f"life-{number}")
        made.wait(life, start, end, created_at=DAY_MS + start * MINUTE_MS)
        made.part(life, 1, start, end, "outranked")
    for number, name in enumerate(ODD):
        made.wait(made.job(name, queue="odd", uid=f"odd-{number}"), 0, 1)
    made.now(47)
    made.load(doris)
    return made


@pytest.fixture
def ask(page, told, tmp_path):
    """Runs a command against the page; `direct` without one, against the warehouse."""

    def run(*arguments, url=page.url, **variables):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("KUBE_COLLECTOR")}
        given = {"KUBE_COLLECTOR_URL": url} if url else {}
        return subprocess.run(
            [sys.executable, "-m", "pipeline.cli.main", *arguments],
            capture_output=True, text=True, timeout=120, cwd=tmp_path,
            env={**clean, "LC_ALL": "C.UTF-8", "PYTHONPATH": str(Path.cwd()), **given, **variables},
        )  # fmt: skip

    return run


def test_why_says_the_sentence_first(ask):
    done = ask("why", "train-llama", "-n", "research", "--cluster", "asked", "--utc")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == (
        "Waiting for 47m of a 30m promise, broken 17m ago. All of it because vision-a takes no more: others use its share."
    )
    assert "VolcanoJob research/train-llama  (asked · vision-a · vision)" in lines
    assert any(line.startswith("Promise  30m, deadline 2026-01-01 00:30:00Z, broken") for line in lines)


def test_why_as_json_is_the_object_of_the_api(ask, page):
    done = ask("why", "VolcanoJob/train-llama", "--cluster", "asked", "-o", "json")
    answer = json.loads(done.stdout)
    stored = page.api("/jobs/asked/research/VolcanoJob/train-llama/why")
    assert answer | {"lag_ms": 0} == stored | {"lag_ms": 0}


def test_a_moment_may_be_meant_from_the_log_time(ask):
    done = ask(
        "why", "train-llama", "-n", "research", "--cluster", "asked", "--at", "-27m", "-o", "yaml", "--lang", "zh"
    )
    assert "wait_ms: 1200000\n" in done.stdout and "sentence: 已等待 20m" in done.stdout


def test_a_moment_that_has_not_come_is_answered_as_of_the_end_of_the_log_and_says_so(ask):
    done = ask("why", "train-llama", "--cluster", "asked", "-n", "research", "--at", "2030-01-01T00:00:00Z", "--utc")
    assert done.returncode == 0 and "this is as of 2026-01-01 00:47:00Z, the end of the log" in done.stderr


@pytest.mark.parametrize("format_", ["csv", "name"])
def test_one_answer_has_no_format_of_rows_and_none_is_offered(format_, ask):
    assert ask("why", "train-llama", "-o", format_).returncode == 2
    assert format_ not in ask("why", "--help").stdout.split("--output", 1)[1].split("--", 1)[0]


def test_a_name_of_several_jobs_lists_them(ask):
    done = ask("why", "eval", "--cluster", "asked")
    assert (done.returncode, done.stdout) == (2, "")
    assert "2 jobs are called eval" in done.stderr and "namespace team-b" in done.stderr and "-n, --kind" in done.stderr


def test_a_name_of_no_job_gets_the_nearest(ask):
    done = ask("why", "train-lama", "--cluster", "asked")
    assert (done.returncode, done.stdout) == (4, "")
    assert "Did you mean train-llama?" in done.stderr


def test_a_moment_before_the_job_is_not_found(ask):
    at = ("--at", "2020-01-01T00:00:00Z")
    done = ask("why", "train-llama", "-n", "research", "--cluster", "asked", *at, TZ="UTC-8")
    assert done.returncode == 4 and "did not exist yet at 2020-01-01 08:00:00+08:00\n" in done.stderr
    assert "from 2026-01-01 08:00:00+08:00 on" in done.stderr
    at = ("--at", "2020-01-01T00:00:00Z", "--utc")
    done = ask("why", "train-llama", "-n", "research", "--cluster", "asked", *at)
    assert "did not exist yet at 2020-01-01 00:00:00Z\n" in done.stderr


def test_a_name_used_again_means_the_newest_and_says_that_there_are_others(ask, odd):
    done = ask("why", "lives", "--cluster", "odd")
    assert done.returncode == 0 and done.stdout.startswith("Waiting for 7m")
    assert "the newest of 3 jobs of its name" in done.stderr and "\n  life-2\n  life-1\n" in done.stderr
    done = ask("why", "lives", "--cluster", "odd", "--uid", "life-1")
    assert done.stdout.startswith("Placed after 5m") and done.stderr == ""
    done = ask("why", "lives", "--cluster", "odd", "--at", "2026-01-01T00:22:00Z")
    assert done.stdout.startswith("Waiting for 2m") and done.stderr == ""
    done = ask("jobs", "lives", "--cluster", "odd", "--uid", "life-2", "-o", "json")
    assert [life["uid"] for life in json.loads(done.stdout)["lives"]] == ["life-3", "life-2", "life-1"]
    assert json.loads(done.stdout)["job"]["uid"] == "life-2"
    assert ask("why", "lives", "--uid", "life-9").returncode == 4


@pytest.mark.parametrize("name", ODD)
def test_any_name_is_found_again(name, ask, page, odd):
    done = ask("why", name, "--cluster", "odd", "-o", "json")
    assert done.returncode == 0 and json.loads(done.stdout)["job"]["name"] == name
    assert page.api(f"/jobs/odd/team-a/Job/{quote(name, safe='')}")["job"]["name"] == name


def test_what_name_prints_is_taken_as_a_name(ask):
    printed = ask("jobs", "--cluster", "asked", "-n", "team-a", "--search", "eval", "-o", "name").stdout.split()
    assert printed == ["Job/eval"]
    done = ask("jobs", *printed, "research/train-llama", "--cluster", "asked", "-n", "team-a,research", "-o", "name")
    assert sorted(done.stdout.split()) == ["Job/eval", "VolcanoJob/train-llama"]
    done = ask("jobs", "eval", "evil", "--cluster", "asked")
    assert done.returncode == 4 and "there is no job evil" in done.stderr


def test_a_language_there_are_no_words_for_is_refused(ask):
    done = ask("why", "train-llama", "--lang", "fr")
    assert done.returncode == 2 and "lang 'fr' does not exist" in done.stderr and "en, zh" in done.stderr


def test_jobs_are_listed_and_one_is_shown_in_full(ask):
    done = ask("jobs", "list", "--cluster", "asked", "--sort-by", "name", "-o", "json")
    assert [row["job"]["namespace"] for row in json.loads(done.stdout)] == ["team-a", "team-b", "research"]
    one = ask("jobs", "train-llama", "--cluster", "asked", "-o", "json")
    assert json.loads(one.stdout)["episodes"][0]["segments"][0]["reason"] == "quota"
    table = ask("jobs", "train-llama", "--cluster", "asked", "--utc").stdout
    assert "Quota in use" in table and "LASTED" in table


def test_an_empty_list_is_an_array(ask):
    done = ask("jobs", "--cluster", "nobody", "-o", "json")
    assert (done.returncode, done.stdout) == (0, "[]\n")


def test_violations_end_with_code_5_when_asked_to(ask):
    done = ask("violations", "--cluster", "asked", "--fail-on", "open", "-o", "csv")
    assert done.returncode == 5 and "1 promise is broken" in done.stderr
    assert done.stdout.splitlines()[0].startswith("namespace,name,queue,state")
    assert ask("violations", "--cluster", "asked", "--fail-on", "any", "-n", "team-a").returncode == 0
    assert ask("violations", "--fail-on", "all").returncode == 2


@pytest.mark.parametrize("noun", ["jobs", "violations", "queues", "reasons"])
def test_a_name_that_nobody_has_is_warned_of(noun, ask):
    done = ask(
        noun,
        "--cluster",
        "asked",
        "-n",
        "reserch",
        "--kind",
        "Job",
        *(["--fail-on", "any"] if noun == "violations" else []),
    )
    assert done.returncode == 0, done.stderr
    assert (
        "Warning: no job is known with namespace reserch (did you mean research?). Known: research, team-a"
        in done.stderr
    )
    assert ask(noun, "--cluster", "asked", "-n", "reserch", "-q").stderr == ""
    assert ask(noun, "--cluster", "asked", "-n", "research").stderr == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("jobs", "--phase", "done"), "Use one of waiting, placed, cancelled."),
        (("jobs", "--reason", "qouta"), "did you mean quota?"),
        (("violations", "--kind", "batch/Job"), "kind 'batch/Job' cannot exist"),
        (("why", "train-llama", "--kind", "-"), "kind '-' cannot exist"),
        (("why", ""), "'' names no job"),
        (("jobs", "research/"), "'research/' names no job"),
    ],
)
def test_what_cannot_be_is_bad_usage(arguments, said, ask):
    done = ask(*arguments)
    assert (done.returncode, done.stdout) == (2, "") and said in done.stderr


def test_a_terminal_in_chinese_has_chinese_around_every_answer(ask):
    for noun, words in (("jobs", "命名空间"), ("violations", "违约时间"), ("queues", "最长等待"), ("reasons", "占比")):
        done = ask(noun, "--cluster", "asked", LC_ALL="zh_CN.UTF-8", PYTHONUTF8="1")
        assert words in done.stdout.splitlines()[0] and done.stderr == "", done
    assert ask("jobs", "--cluster", "asked", "--search", "x!", "--lang", "zh").stderr == "没有找到。\n"


def test_csv_has_numbers_under_the_names_of_the_json(ask):
    rows = csv.DictReader(io.StringIO(ask("jobs", "--cluster", "asked", "-o", "csv", "--lang", "zh").stdout))
    found = {(row["name"], row["namespace"]): row for row in rows}
    assert found["train-llama", "research"]["wait_ms"] == str(47 * MINUTE_MS)
    assert (found["eval", "team-a"]["promise_ms"], found["eval", "team-a"]["phase"]) == (
        str(30 * MINUTE_MS),
        "scheduled",
    )


def test_queues_and_reasons(ask):
    queues = json.loads(ask("queues", "--cluster", "asked", "-o", "json").stdout)
    assert [(queue["queue"], queue["waiting"]) for queue in queues] == [("vision-a", 1)]
    reasons = ask("reasons", "--cluster", "asked").stdout.splitlines()
    assert reasons[1].startswith("Quota in use") and "47m" in reasons[1] and "█" in reasons[1]
    assert (
        json.loads(ask("reasons", "--cluster", "asked", "--from", "-7m", "-o", "json").stdout)["totals"][0]["ms"]
        == 420_000
    )


def test_without_a_page_the_warehouse_answers_the_same(ask, doris, page):
    place = ("--set", f"doris.frontend={doris.frontend}", "--set", f"doris.query_port={doris.query_port}")
    nobody = ("--set", "dashboards.port=1")
    done = ask("why", "train-llama", "-n", "research", "--cluster", "asked", "-o", "json", *place, *nobody, url=None)
    assert done.returncode == 0, done.stderr
    stored = page.api("/why?job=train-llama&namespace=research&cluster=asked")
    assert json.loads(done.stdout) | {"lag_ms": 0} == stored | {"lag_ms": 0}
    for noun in ("jobs", "violations", "queues", "reasons"):
        assert ask(noun, "--cluster", "asked", *place, *nobody, url=None).returncode == 0


def test_the_local_doris_of_the_data_folder_is_found(ask, doris, tmp_path):
    http_port = int(doris.frontend.rsplit(":", 1)[1])
    local.announce(tmp_path / "data" / "doris", local.Address(http_port, doris.query_port))
    done = ask("jobs", "--cluster", "asked", "-o", "name", "--set", "dashboards.port=1", url=None)
    assert done.stdout.splitlines()[0] == "VolcanoJob/train-llama", done.stderr


def test_with_neither_page_nor_warehouse_it_says_how_to_start_one(ask):
    done = ask("why", "train-llama", "--set", "dashboards.port=1", url=None)
    assert done.returncode == 6 and "kube-collector up" in done.stderr
    done = ask("why", "train-llama", "--url", "http://127.0.0.1:1")
    assert done.returncode == 6 and "http://127.0.0.1:1: the page does not answer" in done.stderr


def test_asking_over_http_imports_neither_the_web_framework_nor_settings_nor_a_driver(page, told):
    program = (
        "import sys; from pipeline.cli import main; code = main.run(sys.argv[1:]); "
        "print(code, sorted({'fastapi', 'uvicorn', 'pymysql', 'httpx', 'pydantic', 'msgspec', 'http.client', 'ssl', 'pipeline.config.load'}"
        " & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "why", "train-llama", "-n", "research", "--cluster", "asked", "--url", page.url],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "0 []", done


def test_a_question_over_http_is_one_request(page, told, monkeypatch, capsys):
    asked = []
    get = wire.get
    monkeypatch.setattr(wire, "get", lambda *place, **more: asked.append(place[1]) or get(*place, **more))
    for command in ("why", "jobs"):
        assert main.run([command, "train-llama", "-n", "research", "--cluster", "asked", "--url", page.url]) == 0
    assert [path.split("?")[0] for path in asked] == ["/api/v1/why", "/api/v1/job"], capsys.readouterr()


def test_one_name_with_a_filter_is_a_list(ask):
    done = ask("jobs", "eval", "--cluster", "asked", "--queue", "vision-a", "-o", "json")
    assert [row["job"]["namespace"] for row in json.loads(done.stdout)] == ["team-a", "team-b"], done.stderr
    assert ask("jobs", "train-llama", "--cluster", "asked", "--phase", "placed").returncode == 4


def test_a_taken_port_ends_the_page_with_one_clear_error(ask, page):
    done = ask("dash", "--port", str(page.port), url=None)
    assert done.returncode == 1 and f"port {page.port} on 127.0.0.1 is taken" in done.stderr
    assert "Traceback" not in done.stderr
