"""Stream Load over its real sockets: redirect, authorization, labels, answers, error log, faults."""

import gzip
import json
import shutil
import socket
import subprocess
import threading

import httpx
import pytest

from tests.support.local_doris import HEADERS, Doris

ROW = {"k": 1, "v": "a", "at": "2026-01-01 00:00:00.123", "seq": 1}
ANSWER_FIELDS = [
    "TxnId", "Label", "Comment", "TwoPhaseCommit", "Status", "Message", "NumberTotalRows", "NumberLoadedRows",
    "NumberFilteredRows", "NumberUnselectedRows", "LoadBytes", "LoadTimeMs", "BeginTxnTimeMs", "StreamLoadPutTimeMs",
    "ReadDataTimeMs", "WriteDataTimeMs", "ReceiveDataTimeMs", "CommitAndPublishTimeMs",
]  # fmt: skip


def test_a_load_in_two_steps_is_visible_at_once_and_answered_in_doris_fields(doris):
    answer = doris.load(ROW, label="first", comment="why")
    assert list(answer) == ANSWER_FIELDS
    assert (answer["Status"], answer["Message"], answer["Label"], answer["Comment"]) == (
        "Success",
        "OK",
        "first",
        "why",
    )
    assert (answer["NumberTotalRows"], answer["NumberLoadedRows"], answer["TwoPhaseCommit"]) == (1, 1, "false")
    assert answer["LoadBytes"] == len(json.dumps(ROW))
    assert doris.rows("SELECT k, v FROM kube.t") == [(1, "a")]


def test_the_frontend_answers_a_load_without_its_body(doris):
    answer = doris.http.put(f"{doris.frontend}/api/kube/t/_stream_load", headers=HEADERS, content=b"")
    assert answer.status_code == 307
    assert answer.headers["location"] == f"http://root:@127.0.0.1:{doris.child.backend_port}/api/kube/t/_stream_load?"


def test_a_client_that_sends_its_body_to_the_frontend_still_gets_the_redirect(doris):
    answer = doris.http.put(f"{doris.frontend}/api/kube/t/_stream_load", headers=HEADERS, content=b"x" * 5_000_000)
    assert answer.status_code == 307


def test_the_frontend_wants_an_expect_header(doris):
    answer = doris.http.put(f"{doris.frontend}/api/kube/t/_stream_load", headers={"format": "json"})
    assert (answer.status_code, answer.json()) == (200, {"status": "FAILED", "msg": "There is no 100-continue header"})


def test_a_wrong_password_is_refused_with_status_200_and_code_401(doris):
    for auth in (("root", "wrong"), ("nobody", ""), None):
        client = httpx.Client(auth=auth, trust_env=False)
        answer = client.put(f"{doris.frontend}/api/kube/t/_stream_load", headers=HEADERS)
        assert (answer.status_code, answer.json()["msg"], answer.json()["code"]) == (200, "Unauthorized", 401)
        answer = client.get(f"{doris.frontend}/api/kube/get_load_state?label=x")
        assert answer.json()["code"] == 401
        client.close()


def test_the_backend_checks_the_password_itself(doris):
    url = doris.redirect()
    without = httpx.put(url, headers=HEADERS, content=b"{}")
    assert without.json()["Message"] == "[NOT_AUTHORIZED]no valid Basic authorization"
    wrong = httpx.put(url, headers=HEADERS, content=b"{}", auth=("root", "wrong"))
    assert wrong.json()["Status"] == "Fail"
    assert "Access denied for user 'root@127.0.0.1'" in wrong.json()["Message"]


def test_a_client_that_follows_by_itself_fails_as_on_doris_since_it_drops_the_password(doris):
    client = httpx.Client(auth=("root", ""), follow_redirects=True, trust_env=False)
    answer = client.put(f"{doris.frontend}/api/kube/t/_stream_load", headers=HEADERS, content=json.dumps(ROW).encode())
    client.close()
    assert answer.json()["Message"] == "[NOT_AUTHORIZED]no valid Basic authorization"


@pytest.mark.skipif(shutil.which("curl") is None, reason="the curl program is not installed")
def test_curl_with_location_trusted_loads_and_waits_for_the_100_continue(doris, tmp_path):
    file = tmp_path / "rows.json"
    file.write_text("\n".join(json.dumps({**ROW, "k": n}) for n in range(20_000)))
    command = ["curl", "-sS", "--location-trusted", "-u", "root:", "-H", "Expect: 100-continue", "-H", "format: json",
               "-H", "read_json_by_line: true", "-T", str(file), f"{doris.frontend}/api/kube/t/_stream_load"]  # fmt: skip
    answer = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)
    assert (answer["Status"], answer["NumberLoadedRows"]) == ("Success", 20_000)


def test_the_backend_takes_chunked_bodies_and_many_loads_on_one_connection(doris):
    url = doris.redirect()
    for n in range(3):
        parts = iter([json.dumps({**ROW, "k": n}).encode()[:9], json.dumps({**ROW, "k": n}).encode()[9:]])
        answer = doris.http.put(url, headers=HEADERS, content=parts)
        assert answer.json()["Status"] == "Success", answer.text
    assert doris.rows("SELECT count(*) FROM kube.t") == [(3,)]


def test_a_body_without_a_length_is_refused(doris):
    with socket.create_connection(("127.0.0.1", doris.child.backend_port)) as client:
        client.sendall(
            b"PUT /api/kube/t/_stream_load HTTP/1.1\r\nAuthorization: Basic cm9vdDo=\r\nConnection: close\r\n\r\n"
        )
        answer = client.makefile("rb").read()
    assert b"content_length is empty and transfer-encoding!=chunked" in answer


def test_a_body_that_ends_early_loads_nothing_and_frees_its_label(doris):
    head = (b"PUT /api/kube/t/_stream_load HTTP/1.1\r\nHost: x\r\nAuthorization: Basic cm9vdDo=\r\nformat: json\r\n"
            b"read_json_by_line: true\r\nlabel: cut\r\nContent-Length: 999\r\n\r\n")  # fmt: skip
    with socket.create_connection(("127.0.0.1", doris.child.backend_port)) as client:
        client.sendall(head + json.dumps(ROW).encode())
        client.shutdown(socket.SHUT_WR)
        answer = client.makefile("rb").read()
    assert b'"Status": "Fail"' in answer
    assert doris.rows("SELECT * FROM kube.t") == []
    assert doris.load(ROW, label="cut")["Status"] == "Success"


def test_gzip_and_arrays_are_read(doris):
    body = gzip.compress(json.dumps([ROW, {**ROW, "k": 2}]).encode())
    answer = doris.load(body=body, compress_type="gz", strip_outer_array="true", read_json_by_line="false")
    assert answer["NumberLoadedRows"] == 2


def test_a_used_label_is_told_and_loads_nothing(doris):
    assert doris.load(ROW, label="once")["Status"] == "Success"
    answer = doris.load({**ROW, "k": 2}, label="once")
    assert (answer["Status"], answer["ExistingJobStatus"]) == ("Label Already Exists", "FINISHED")
    assert "Label [once] has already been used" in answer["Message"]
    assert doris.rows("SELECT k FROM kube.t") == [(1,)]


def test_a_label_under_way_is_told_as_running(doris):
    url = doris.redirect()
    body = json.dumps(ROW).encode()
    with socket.create_connection(("127.0.0.1", doris.child.backend_port)) as client:
        client.sendall(
            b"PUT /api/kube/t/_stream_load HTTP/1.1\r\nAuthorization: Basic cm9vdDo=\r\nlabel: busy\r\nformat: json\r\n"
            b"read_json_by_line: true\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body)
        )
        answers = client.makefile("rb")
        assert [answers.readline(), answers.readline()] == [b"HTTP/1.1 100 Continue\r\n", b"\r\n"]
        second = doris.http.put(url, headers={**HEADERS, "label": "busy"}, content=body).json()
        assert (second["Status"], second["ExistingJobStatus"]) == ("Label Already Exists", "RUNNING")
        assert _state(doris, "busy") == "PREPARE"
        client.sendall(body)
        client.shutdown(socket.SHUT_WR)
        assert b'"Status": "Success"' in answers.read()
    assert _state(doris, "busy") == "VISIBLE"


def test_the_state_of_a_label_can_be_asked_for(doris):
    doris.load(ROW, label="known")
    assert (_state(doris, "known"), _state(doris, "unknown")) == ("VISIBLE", "UNKNOWN")


def _state(doris: Doris, label: str) -> str:
    answer = doris.http.get(f"{doris.frontend}/api/kube/get_load_state", params={"label": label}).json()
    assert (answer["msg"], answer["code"]) == ("success", 0)
    return answer["data"]


def test_filtered_rows_are_counted_and_their_log_can_be_read(doris):
    failed = doris.load(ROW, {"k": None, "seq": 1}, body=None)
    assert (failed["Status"], failed["Message"]) == ("Fail", "[DATA_QUALITY_ERROR]too many filtered rows")
    assert (failed["NumberTotalRows"], failed["NumberLoadedRows"], failed["NumberFilteredRows"]) == (2, 0, 1)
    log = doris.http.get(failed["ErrorURL"]).text
    assert log.startswith("Reason: column_name[k], null value for not null column, type=int src line [{")
    passed = doris.load(body=json.dumps(ROW).encode() + b"\nbroken", max_filter_ratio="0.5")
    assert (passed["Status"], passed["NumberLoadedRows"], passed["NumberFilteredRows"]) == ("Success", 1, 1)
    assert "src line [broken]" in doris.http.get(passed["ErrorURL"]).text


@pytest.mark.parametrize(
    ("table", "headers", "message"),
    [
        ("nothing", {}, "[ANALYSIS_ERROR]TStatus: errCode = 2, detailMessage = unknown table, tableName=nothing"),
        ("t", {"label": "no/slash"}, "Label format error"),
        ("t", {"format": "csv"}, "format csv is not supported by the local store"),
        ("t", {"columns": "k, v"}, "Table t has sequence column, need to specify the sequence column"),
    ],
)
def test_a_load_that_cannot_be_is_refused_with_status_200(doris, table, headers, message):
    answer = doris.load(ROW, table=table, **headers)
    assert answer["Status"] == "Fail"
    assert message in answer["Message"]


def test_an_unknown_database_is_told(doris):
    url = doris.redirect().replace("/kube/", "/nowhere/")
    answer = doris.http.put(url, headers=HEADERS, content=b"{}").json()
    assert "unknown database, database=nowhere" in answer["Message"]


def test_health_bootstrap_and_backends_answer(doris):
    assert doris.http.get(f"{doris.frontend}/api/bootstrap").json()["msg"] == "success"
    assert doris.http.get(f"{doris.frontend}/api/health").json()["data"] == {
        "online_backend_num": 1,
        "total_backend_num": 1,
    }
    (backend,) = doris.http.get(f"{doris.frontend}/api/backends?is_alive=true").json()["data"]["backends"]
    assert backend == {"ip": "127.0.0.1", "http_port": doris.child.backend_port, "is_alive": True}
    assert doris.http.get(f"http://127.0.0.1:{backend['http_port']}/api/health").json()["status"] == "OK"


def test_loads_from_many_threads_all_arrive(doris):
    url = doris.redirect()
    answers = []

    def load(worker: int) -> None:
        with httpx.Client(auth=("root", ""), trust_env=False, timeout=60) as client:
            for n in range(5):
                rows = "\n".join(json.dumps({**ROW, "k": worker * 1000 + n * 10 + i}) for i in range(10))
                answers.append(client.put(url, headers=HEADERS, content=rows.encode()).json()["Status"])

    threads = [threading.Thread(target=load, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["Success"] * 20
    assert doris.rows("SELECT count(*) FROM kube.t") == [(200,)]


# -- faults


def test_a_lost_reply_leaves_the_rows_loaded(doris):
    doris.arm("lost_reply")
    with pytest.raises(httpx.TransportError):
        doris.load(ROW, label="lost")
    assert _state(doris, "lost") == "VISIBLE"
    assert doris.rows("SELECT k FROM kube.t") == [(1,)]
    assert doris.load(ROW, label="lost")["ExistingJobStatus"] == "FINISHED"


def test_a_lost_request_leaves_nothing_loaded(doris):
    doris.arm("lost_request")
    with pytest.raises(httpx.TransportError):
        doris.load(ROW, label="gone")
    assert _state(doris, "gone") == "UNKNOWN"
    assert doris.rows("SELECT k FROM kube.t") == []


def test_a_publish_timeout_is_committed(doris):
    doris.arm("publish_timeout")
    answer = doris.load(ROW)
    assert (answer["Status"], answer["NumberLoadedRows"]) == ("Publish Timeout", 1)
    assert doris.rows("SELECT k FROM kube.t") == [(1,)]


def test_too_many_versions_fail_a_load_as_often_as_armed(doris):
    doris.arm("too_many_versions", left=2, table="t")
    assert ["-235" in doris.load(ROW)["Message"] for _ in range(3)] == [True, True, False]


def test_a_dead_backend_is_redirected_to(doris):
    doris.arm("dead_backend")
    with pytest.raises(httpx.ConnectError):
        doris.http.put(doris.redirect(), headers=HEADERS, content=b"{}")
    assert doris.load(ROW)["Status"] == "Success"


def test_a_forgotten_label_loads_again(doris):
    doris.load(ROW, label="old")
    doris.arm("forgotten_label")
    assert doris.load(ROW, label="old")["Status"] == "Success"
    doris.arm("forgotten_label")
    assert _state(doris, "old") == "UNKNOWN"


def test_a_busy_cluster_refuses_a_query(doris):
    doris.arm("server_busy")
    with pytest.raises(Exception, match="There is no scanNode Backend available"):
        doris.rows("SELECT 1")
    assert doris.rows("SELECT 1") == [(1,)]


def test_faults_are_listed_and_unknown_ones_refused(doris):
    doris.arm("lost_reply", left=3)
    assert doris.http.get(f"{doris.frontend}/_fault").json() == [{"name": "lost_reply", "left": 3, "table": None}]
    answer = doris.http.post(f"{doris.frontend}/_fault", content=b'{"name": "nonsense"}')
    assert answer.status_code == 400


def test_there_are_no_faults_unless_asked_for(tmp_path):
    doris = Doris.started(tmp_path)
    try:
        assert doris.http.get(f"{doris.frontend}/_fault").status_code == 404
    finally:
        doris.stop()
