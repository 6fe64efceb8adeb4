"""The API over rows that were loaded as the loader loads them."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from dashboards.figures import jobs as listing
from pipeline import clock
from tests.process.dashboards.conftest import at
from tests.support.waiting import DAY_MS, MINUTE_MS, Waiting

LLAMA = "/jobs/prod/research/VolcanoJob/train-llama"


def names(answer):
    return [item["job"]["name"] for item in answer["items"]]


def test_why_says_it_in_one_sentence_with_the_reasons_behind_it(page, cluster):
    answer = page.api(f"{LLAMA}/why")
    assert answer["sentence"] == (
        "Waiting for 47m of a 30m promise, broken 17m ago. 31m of it (66 %) because vision-a took no more: "
        "others used its share. Now because no node has enough nvidia.com/gpu free."
    )
    assert [(each["reason"], each["ms"]) for each in answer["reasons"]] == [
        ("quota", 31 * MINUTE_MS), ("insufficient_resource", 16 * MINUTE_MS),
    ]  # fmt: skip
    assert answer["leading"] == answer["reasons"][0]
    assert answer["now"]["message"] == "0/2 nodes are available" and answer["now"]["nodes"] == 2
    assert (
        answer["now"]["since_ms"]
        == at(31)
        == page.api("/jobs?cluster=prod&name=train-llama")["items"][0]["now"]["since_ms"]
    )
    assert answer["helps"] == ["Free nvidia.com/gpu on the nodes it may use, add such a node, or ask for less."]
    assert (answer["wait_ms"], answer["sla"], answer["deadline_at"]) == (
        47 * MINUTE_MS, "violated", "2026-01-01T00:30:00.000Z",
    )  # fmt: skip
    assert (answer["now_ms"], answer["data_until_ms"], answer["replay"]) == (at(47), at(46.5), False)


@pytest.mark.parametrize(
    ("minute", "episode", "phase", "wait", "reason"),
    [
        (5, 1, "waiting", 5, "scheduler_backlog"),
        (10, 1, "scheduled", 10, "scheduler_backlog"),
        (15, 1, "scheduled", 10, "scheduler_backlog"),
        (20, 2, "waiting", 0, "outranked"),
        (30, 2, "waiting", 10, "outranked"),
        (46, 2, "scheduled", 25, "outranked"),
        (10**6, 2, "scheduled", 25, "outranked"),
    ],
)
def test_why_at_a_moment_cuts_what_lies_behind_it(minute, episode, phase, wait, reason, page, cluster):
    answer = page.api(f"/jobs/prod/team-a/Job/eval/why?at={at(minute)}")
    found = answer["episode"], answer["phase"], answer["wait_ms"] // MINUTE_MS, answer["leading"]["reason"]
    assert found == (episode, phase, wait, reason)


def test_a_wait_that_is_named_is_the_one_answered_whole_or_cut_at_a_moment(page, cluster):
    path = "/jobs/prod/team-a/Job/eval/why?episode="
    first = page.api(f"{path}1")
    assert (first["episode"], first["phase"], first["wait_ms"]) == (1, "scheduled", 10 * MINUTE_MS)
    cut = page.api(f"{path}1&at={at(5)}")
    assert (cut["episode"], cut["phase"], cut["wait_ms"]) == (1, "waiting", 5 * MINUTE_MS)
    assert page.api(f"{path}1&at={at(30)}")["wait_ms"] == 10 * MINUTE_MS
    assert page.get(f"/api/v1{path}2&at={at(15)}").body["detail"].startswith("job eval did not wait yet at")
    assert page.get(f"/api/v1{path}3").body["hint"] == "Its waits are 1, 2."
    assert page.get(f"/api/v1{path}0").status == 400


def test_why_takes_rfc_3339_and_speaks_the_language_asked_for(page, cluster):
    path = f"{LLAMA}/why?at=2026-01-01T08:20:00%2B08:00"
    assert page.api(path + "&lang=zh")["sentence"].startswith("已等待 20m")
    assert page.api(path, Accept_Language="zh-CN,zh;q=0.9")["sentence"].startswith("已等待 20m")
    assert page.api(path)["sentence"].startswith("Waiting for 20m")


def test_before_the_job_existed_there_is_no_answer_but_advice(page, cluster):
    answer = page.get(f"/api/v1{LLAMA}/why?at={DAY_MS - 1}")
    assert answer.status == 404 and answer.headers["content-type"] == "application/problem+json"
    assert answer.body["detail"] == "job train-llama did not exist yet at 2025-12-31T23:59:59.999Z"
    assert "2026-01-01T00:00:00.000Z" in answer.body["hint"]


def test_a_job_has_all_its_waits_latest_first_with_their_parts(page, cluster):
    answer = page.api("/jobs/prod/team-a/Job/eval")
    assert [episode["episode"] for episode in answer["episodes"]] == [2, 1]
    latest = answer["episodes"][0]
    assert (latest["cause"], latest["episodes"], latest["sla"], latest["promise_source"]) == (
        "preempted", 2, "met", "job sla-waiting-time",
    )  # fmt: skip
    (part,) = latest["segments"]
    assert (part["from_ms"], part["to_ms"], part["ms"], part["title"]) == (
        at(20), at(45), 25 * MINUTE_MS, "Others go first",
    )  # fmt: skip
    for episode in answer["episodes"]:
        assert sum(part["ms"] for part in episode["segments"]) == episode["wait_ms"]


def test_an_open_wait_reaches_to_the_log_time_and_says_what_holds_it(page, cluster):
    (episode,) = page.api(LLAMA)["episodes"]
    assert episode["segments"][-1]["to_ms"] is None and episode["segments"][-1]["ms"] == 16 * MINUTE_MS
    assert episode["segments"][-1]["also"] == ["untolerated_taint"]
    assert episode["now"]["reason"] == "insufficient_resource"
    assert episode["leading"]["ms"] == 31 * MINUTE_MS


def test_events_are_shown_by_their_newest_sight(page, cluster):
    events = page.api(LLAMA)["events"]
    assert [(event["reason"], event["count"], event["at_ms"]) for event in events] == [
        ("FailedScheduling", 4, at(2)), ("Queued", 1, at(1)),
    ]  # fmt: skip
    assert events[0]["regarding"] == "Pod/research/p-0"


def test_a_dash_stands_for_no_queue_and_no_tenant(page, doris):
    made = Waiting("without")
    made.wait(made.job("free", queue="", tenant=""), 0)
    made.wait(made.job("queued"), 0)
    made.now(10)
    made.load(doris)
    assert names(page.api("/jobs?cluster=without&queue=-")) == ["free"]
    assert names(page.api("/jobs?cluster=without&tenant=-,vision&sort=name")) == ["free", "queued"]
    assert [row["queue"] for row in page.api("/queues?cluster=without&queue=-")["items"]] == [""]


def test_a_job_is_found_by_its_name_alone(page, cluster):
    for query in ("job=train-llama", "job=volcanojob/train-llama&namespace=research,x", "job=research/train-llama"):
        for noun, path in (("why", f"{LLAMA}/why"), ("job", LLAMA)):
            assert page.api(f"/{noun}?{query}&cluster=prod") | {"lag_ms": 0} == page.api(path) | {"lag_ms": 0}, query
    answer = page.get("/api/v1/why?job=train-lama&cluster=prod")
    assert (answer.status, answer.body["hint"]) == (404, "Did you mean train-llama?")


def test_a_job_of_another_kind_is_named_with_its_kind(page, cluster):
    answer = page.get("/api/v1/jobs/prod/research/Job/train-llama")
    assert (answer.status, answer.body["hint"]) == (404, "Did you mean VolcanoJob/train-llama?")


def test_a_job_nobody_knows_gets_the_nearest_name(page, cluster):
    answer = page.get("/api/v1/jobs/prod/research/VolcanoJob/train-lama")
    assert (answer.status, answer.body["hint"]) == (404, "Did you mean train-llama?")
    assert answer.body["instance"] == "/api/v1/jobs/prod/research/VolcanoJob/train-lama"


def test_a_name_used_again_is_the_newest_job_unless_its_uid_or_a_moment_says_otherwise(page, doris):
    made = Waiting("again")
    old, new = made.job("j", uid="old"), made.job("j", uid="new")
    made.wait(old, 0, 5)
    made.part(old, 1, 0, 5, "quota")
    made.wait(new, 10, created_at=at(10))
    made.part(new, 1, 10, None, "outranked")
    made.now(20)
    made.load(doris)
    path = "/jobs/again/team-a/Job/j"
    assert page.api(path)["job"]["uid"] == "new" and len(page.api(path)["episodes"]) == 1
    assert page.api(f"{path}?uid=old")["job"]["uid"] == "old"
    assert page.api(f"{path}/why")["leading"]["reason"] == "outranked"
    assert page.api(f"{path}/why?at={at(7)}")["leading"]["reason"] == "quota"
    assert page.api(f"{path}/why?uid=old")["phase"] == "scheduled"
    for query, others in (("", ["old"]), ("&uid=old", []), (f"&at={at(7)}", ["new"])):
        assert page.api(f"/why?job=j&cluster=again{query}")["others"] == others, query
    assert page.get("/api/v1/why?job=j&cluster=again&uid=x").body["hint"] == "Known uids of that name: new, old."
    assert len(page.api("/jobs?cluster=again")["items"]) == 2
    for query in ("", "?uid=old"):
        lives = [(life["uid"], life["phase"], life["created_ms"]) for life in page.api(path + query)["lives"]]
        assert lives == [("new", "waiting", at(10)), ("old", "scheduled", at(0))]


def test_the_list_has_one_row_a_job_by_its_latest_wait(page, cluster):
    answer = page.api("/jobs?cluster=prod")
    assert names(answer) == ["train-llama", "late_100%", "eval"] and answer["total"] == 3 and answer["next"] is None
    by_name = {item["job"]["name"]: item for item in answer["items"]}
    assert by_name["eval"]["episode"] == by_name["eval"]["episodes"] == 2
    assert by_name["train-llama"]["now"]["reason"] == "insufficient_resource"
    assert by_name["eval"]["now"] is None
    assert by_name["train-llama"]["overrun_ms"] == 17 * MINUTE_MS


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("namespace=research", ["train-llama"]),
        ("namespace=research,team-a&phase=waiting", ["train-llama", "late_100%"]),
        ("tenant=speech", ["late_100%"]),
        ("queue=vision-a&kind=Job", ["eval"]),
        ("kind=volcanojob", ["train-llama"]),
        ("queue=-", []),
        ("sla=violated", ["train-llama"]),
        ("sla=at_risk&sla=met", ["late_100%", "eval"]),
        ("reason=outranked", ["eval"]),
        ("name=eval", ["eval"]),
        ("q=LLAMA", ["train-llama"]),
        ("q=" + quote("_100%"), ["late_100%"]),
        ("q=" + quote("%"), ["late_100%"]),
        ("q=speech", ["late_100%"]),
        ("q=uid-ev", ["eval"]),
        ("q=" + quote("'; DROP TABLE job_wait; --"), []),
        ("namespace=" + quote("x' OR 'a'='a"), []),
        ("sort=name", ["eval", "late_100%", "train-llama"]),
        ("sort=-name", ["train-llama", "late_100%", "eval"]),
        ("sort=wait", ["eval", "late_100%", "train-llama"]),
        ("sort=deadline", ["train-llama", "eval", "late_100%"]),
    ],
)
def test_filters_and_orders(query, found, page, cluster):
    assert names(page.api(f"/jobs?cluster=prod&{query}")) == found


@pytest.fixture(scope="module")
def many(doris):
    """Forty jobs, of which half wait, some as long as others."""
    made = Waiting("many")
    for number in range(40):
        job = made.job(f"job-{number:02}")
        made.wait(
            job, number // 4, None if number % 2 else number // 4 + 3, promise_ms=None if number % 3 else MINUTE_MS
        )
        made.part(job, 1, number // 4, None if number % 2 else number // 4 + 3, "quota")
        made.violation(job, number // 8)
    made.now(30)
    made.load(doris)
    return made


@pytest.mark.parametrize("sort", ["wait", "-wait", "created", "-created", "deadline", "-deadline", "name", "-name"])
def test_pages_together_are_the_whole_list_each_row_once(sort, page, many):
    whole = names(page.api(f"/jobs?cluster=many&sort={sort}&limit=500"))
    assert len(whole) == len(set(whole)) == 40
    pages, cursor = [], ""
    for _ in range(7):
        answer = page.api(f"/jobs?cluster=many&sort={sort}&limit=7{cursor}")
        pages += names(answer)
        assert answer["total"] == 40
        if answer["next"] is None:
            break
        cursor = f"&cursor={answer['next']}"
    assert pages == whole


def test_rows_without_a_deadline_come_last_in_both_directions(page, many):
    for sort in ("deadline", "-deadline"):
        items = page.api(f"/jobs?cluster=many&sort={sort}&limit=500")["items"]
        known = [item["deadline_ms"] is not None for item in items]
        assert known == sorted(known, reverse=True) and sum(known) == 14


def test_a_wait_that_grows_between_pages_is_neither_lost_nor_repeated(page, doris):
    made = Waiting("growing")
    for number in range(6):
        made.wait(made.job(f"open-{number}"), number)
        made.wait(made.job(f"done-{number}"), 0, 5 + number)
    made.now(10)
    made.load(doris)
    first = page.api("/jobs?cluster=growing&sort=-wait&limit=5")
    made.now(25)
    made.load(doris)
    second = page.api(f"/jobs?cluster=growing&sort=-wait&limit=500&cursor={first['next']}")
    assert sorted(names(first) + names(second)) == sorted(
        [f"open-{number}" for number in range(6)] + [f"done-{number}" for number in range(6)]
    )


def test_violations_are_listed_latest_first_in_pages(page, many):
    whole = page.api("/violations?cluster=many&limit=500")["items"]
    assert len(whole) == 40
    assert [item["violated_ms"] for item in whole] == sorted((item["violated_ms"] for item in whole), reverse=True)
    pages, cursor = [], ""
    while cursor is not None:
        answer = page.api(f"/violations?cluster=many&limit=9{cursor}")
        assert answer["total"] == 40
        pages += answer["items"]
        cursor = f"&cursor={answer['next']}" if answer["next"] else None
    assert [item["job"]["name"] for item in pages] == [item["job"]["name"] for item in whole]


def test_a_violation_says_what_broke_and_by_how_much(page, cluster):
    (item,) = page.api("/violations?cluster=prod&state=open")["items"]
    assert (item["overrun_ms"], item["reason"], item["title"], item["resolved_ms"]) == (
        17 * MINUTE_MS, "quota", "Quota in use", None,
    )  # fmt: skip
    assert page.api("/violations?cluster=prod&state=resolved")["items"] == []


def test_queues_count_open_waits_and_name_what_holds_them(page, cluster):
    vision, speech = page.api("/queues?cluster=prod")["items"]
    assert vision == {
        "queue": "vision-a", "tenant": "vision", "jobs": 2, "waiting": 1, "violated": 1, "longest_wait_ms": 47 * MINUTE_MS,
        "waiting_ms": 47 * MINUTE_MS, "gpus_waiting": 32,
        "leading": {
            "reason": "quota", "detail": "queue_refused", "resource": "nvidia.com/gpu", "ms": 31 * MINUTE_MS,
            "share": 0.6596, "title": "Quota in use",
        },
    }  # fmt: skip
    assert (speech["queue"], speech["gpus_waiting"], speech["leading"]["reason"]) == ("speech", 8, "node_affinity")


def test_an_unknown_uid_is_not_answered_with_the_name_itself(page, cluster):
    answer = page.get(f"/api/v1{LLAMA}?uid=nobody")
    assert answer.status == 404 and "train-llama?" not in answer.body["hint"]


def test_the_overview_counts_promises_and_waits(page, cluster):
    answer = page.api("/overview?cluster=prod")
    assert answer["kept"] == {"promised": 4, "kept": 2, "violated_open": 1, "violated_total": 1, "at_risk": 1}
    assert answer["waiting"] == {"jobs": 2, "gpus": 40, "wait_ms": (47 + 27) * MINUTE_MS}
    assert names({"items": answer["longest"]}) == ["train-llama", "late_100%"]
    assert names({"items": answer["at_risk"]}) == ["late_100%"]
    assert [item["job"]["name"] for item in answer["recent_violations"]] == ["train-llama"]
    assert answer["top_reasons"][0]["reason"] == "quota"


def test_the_overview_of_a_cluster_nobody_knows_is_all_zero(page, cluster):
    answer = page.api("/overview?cluster=nobody@replay")
    assert set(answer["kept"].values()) | set(answer["waiting"].values()) == {0}
    assert (answer["longest"], answer["now_ms"], answer["replay"]) == ([], None, True)


def test_meta_lists_what_there_is_to_choose_from(page, cluster):
    answer = page.api("/meta?lang=zh")
    assert "prod" in answer["clusters"] and {"research", "team-a"} <= set(answer["namespaces"])
    assert {"vision-a", "speech"} <= set(answer["queues"]) and answer["languages"] == ["en", "zh"]
    quota = next(reason for reason in answer["reasons"] if reason["code"] == "quota")
    assert quota == {"code": "quota", "title": "配额被占用", "color_index": 1}


def test_the_pipeline_shows_stages_dead_letters_and_counters(page, doris, cluster):
    made = Waiting("prod")
    made.add(
        "dead_letter", day=DAY_MS, id="x", stage="collector", kind="pods", error="no JSON", observed_at=at(3), bytes="",
        size=1, sha256="",
    )  # fmt: skip
    for minute, value in ((1, 5.0), (2, 9.0)):
        made.add("pipeline_minute", day=DAY_MS, minute=at(minute), stage="collector", name="records", value=value)
    made.load(doris)
    answer = page.api("/pipeline")
    stages = {stage["stage"]: stage for stage in answer["stages"] if stage["cluster"] == "prod"}
    assert stages["aggregation"]["lag_ms"] == 0 and stages["loader"]["lag_ms"] == MINUTE_MS // 2
    assert answer["dead_letters"]["count"] == 1 and answer["dead_letters"]["latest"][0]["error"] == "no JSON"
    assert answer["counters"] == {"prod/collector/records": 9.0}
    assert answer["watches"] is None and answer["process"] is None and answer["warehouse"] is None


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/jobs?limit=501", "limit"),
        ("/jobs?limit=x", "limit"),
        ("/jobs?cursor=x", "cursor cannot be read"),
        (f"{LLAMA}/why?at=yesterday", "'yesterday' is no time"),
        ("/reasons?bucket=5", "is no width"),
        ("/reasons?to=9999999999999999", "is no time"),
        (f"{LLAMA}/why?at=99999999999999999999", "is no time"),
        ("/jobs?phas=waiting", "there is no parameter 'phas' here (did you mean phase?)"),
        ("/overview?phase=waiting", "there is no parameter 'phase' here"),
        ("/queues?q=x", "there is no parameter 'q' here"),
        ("/reasons?sla=met", "there is no parameter 'sla' here"),
        ("/violations?sla=met", "there is no parameter 'sla' here"),
        ("/pipeline?cluster=prod", "there is no parameter 'cluster' here"),
        (f"{LLAMA}?at=5", "there is no parameter 'at' here"),
        ("/why?cluster=prod", "job"),
        ("/why?job=", "'' names no job"),
        ("/job?job=Job/", "names no job"),
        ("/job?job=x&at=5", "there is no parameter 'at' here"),
    ],
)
def test_what_cannot_be_understood_is_a_problem_with_advice(path, said, page, cluster):
    answer = page.get(f"/api/v1{path}")
    assert (answer.status, answer.headers["content-type"]) == (400, "application/problem+json")
    assert said in answer.body["detail"] and answer.body["hint"]


@pytest.mark.parametrize(
    ("path", "said", "hint"),
    [
        ("/jobs?phase=wating", "phase 'wating' does not exist (did you mean waiting?)", "waiting, placed, cancelled"),
        ("/jobs?sla=late", "sla 'late' does not exist", "none, on_track, at_risk, violated, met, met_late, cancelled"),
        ("/violations?state=opn", "did you mean open", "open, resolved, withdrawn"),
        ("/jobs?reason=qouta", "did you mean quota", "queue_limit"),
        ("/reasons?reason=qouta", "did you mean quota", "queue_limit"),
        ("/queues?kind=batch/Job", "kind 'batch/Job' cannot exist", "such as Job"),
        ("/why?job=train-llama&kind=-", "kind '-' cannot exist", "such as Job"),
        ("/jobs?sort=size", "sort 'size' does not exist", "wait, created, deadline, name"),
        ("/jobs?lang=fr", "lang 'fr' does not exist", "en, zh"),
        ("/reasons?unit=pods", "'jobs' or 'gpus'", "openapi.json"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_those_that_can(path, said, hint, page, cluster):
    answer = page.get(f"/api/v1{path}")
    assert (answer.status, answer.body["type"]) == (422, "urn:kube-collector:problem:no_such_value")
    assert said in answer.body["detail"] and hint in answer.body["hint"]


@pytest.mark.parametrize("noun", ["jobs", "violations", "queues", "reasons", "overview"])
def test_a_name_that_nobody_has_is_an_empty_answer_that_says_so(noun, page, cluster):
    answer = page.api(f"/{noun}?cluster=prod&namespace=reserch")
    assert not (answer.get("items") or answer.get("totals") or answer.get("longest"))
    assert answer["unknown"] == [
        {"filter": "namespace", "value": "reserch", "near": "research", "known": ["research", "team-a"]}
    ]
    (kind,) = page.api(f"/{noun}?cluster=prod&kind=Jbo,volcanojob")["unknown"]
    assert (kind["filter"], kind["value"], kind["known"]) == ("kind", "Jbo", ["Job", "VolcanoJob"])
    assert page.api(f"/{noun}?cluster=prod&namespace=research&queue=vision-a")["unknown"] == []


def test_a_job_in_a_namespace_that_nobody_has_gets_the_nearest_namespace(page, cluster):
    answer = page.get("/api/v1/why?job=nothing-like-it&namespace=reserch&cluster=prod")
    assert (answer.status, answer.body["hint"]) == (404, "Did you mean namespace research?")


def test_a_cursor_of_another_order_is_refused(page, many):
    cursor = page.api("/jobs?cluster=many&sort=name&limit=2")["next"]
    assert page.get(f"/api/v1/jobs?cluster=many&sort=wait&cursor={cursor}").status == 400


def test_how_stale_an_unchanged_answer_is_comes_without_it(page, cluster, monkeypatch):
    first = page.get("/api/v1/jobs?cluster=prod")
    assert first.headers["kube-collector-lag-ms"] == str(first.body["lag_ms"])
    now_ms = clock.now_ms()
    monkeypatch.setattr(clock, "now_ms", lambda: now_ms + 3_600_000)
    later = page.get("/api/v1/jobs?cluster=prod", If_None_Match=first.headers["etag"])
    assert later.status == 304
    assert int(later.headers["kube-collector-lag-ms"]) >= first.body["lag_ms"] + 3_500_000


def test_an_answer_that_has_not_changed_is_not_sent_again(page, doris, cluster):
    first = page.get("/api/v1/jobs?cluster=prod")
    mark = first.headers["etag"]
    again = page.get("/api/v1/jobs?cluster=prod", If_None_Match=f'"other", {mark}')
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", mark)
    assert page.get("/api/v1/jobs?cluster=prod&limit=2", If_None_Match=mark).status == 200
    assert page.get("/api/v1/jobs?cluster=prod", If_None_Match=mark, Accept_Language="zh").status == 200
    made = Waiting("other")
    made.now(1)
    made.load(doris)
    assert page.get("/api/v1/jobs?cluster=prod", If_None_Match=mark).status == 200


def test_the_usual_page_of_the_list_is_within_the_limit_of_the_contract(page):
    assert listing.USUAL == 100 and listing.MOST == 500


def test_every_field_and_parameter_is_described(page, cluster):
    document = page.api("/openapi.json")
    assert document["openapi"].startswith("3.1")
    assert len(document["paths"]) == 11
    for path, (operation,) in ((path, list(each.values())) for path, each in document["paths"].items()):
        answers = operation["responses"]
        assert set(answers) == {"200", "304", "400", "404", "422", "503"}, path
        name = answers["200"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[-1]
        assert name in document["components"]["schemas"]
    for path, name in (
        ("/jobs?cluster=prod", "Jobs"),
        (f"{LLAMA}/why", "Why"),
        ("/queues", "Queues"),
        (LLAMA, "JobDetail"),
    ):
        assert set(page.api(path)) == set(document["components"]["schemas"][name]["properties"]), name
