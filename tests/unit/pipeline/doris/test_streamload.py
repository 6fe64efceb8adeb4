"""The Stream Load client against every answer a Doris can give, over a transport in memory."""

from __future__ import annotations

import base64
import json

import httpx
import pytest

from pipeline.doris import errors, replies, streamload
from pipeline.doris.settings import Settings
from pipeline.doris.streamload import StreamLoad

ROWS = b'{"a":1}\n{"a":2}\n'
GOOD = {"Status": "Success", "NumberTotalRows": 2, "NumberLoadedRows": 2}
BACKEND = "http://root:secret@be-1.example:8040/api/kube/t/_stream_load?"


class FakeDoris:
    """A frontend and a backend; `backend` and `states` are the answers to give, in order, the last one again and again."""

    def __init__(self, *backend, states=(), location=BACKEND, frontend=None):
        self.requests = []
        self.backend = list(backend)
        self.states = list(states)
        self.location = location
        self.frontend = frontend

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if request.url.path.endswith("get_load_state"):
            return httpx.Response(200, json={"msg": "success", "code": 0, "data": _next(self.states), "count": 0})
        if request.url.path.endswith("_load_error_log"):
            return httpx.Response(200, text="Reason: column [a] is not nullable. src line [{}]")
        if request.url.host == "fe.example":
            return self.frontend or httpx.Response(307, headers={"location": self.location})
        answer = _next(self.backend)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, json=answer)

    def sent_to(self, host):
        return [request for request in self.requests if request.url.host == host]


def _next(answers):
    return answers.pop(0) if len(answers) > 1 else answers[0]


def client(doris, **settings):
    chosen = {"frontend": "fe.example:8030", "database": "kube", "password": "pw", "backends": ("be-*.example",)}
    naps = []
    load = StreamLoad(Settings(**(chosen | settings)), transport=httpx.MockTransport(doris), sleep=naps.append)
    load.naps = naps
    return load


def load(doris, **settings):
    return client(doris, **settings).load("t", ROWS, rows=2, label="l1")


def test_the_frontend_gets_no_row_and_the_backend_gets_rows_and_own_credentials():
    doris = FakeDoris(GOOD)
    assert load(doris) == replies.Result(replies.Outcome.LOADED, "l1", 2)
    to_frontend, to_backend = doris.requests
    assert to_frontend.content == b"" and to_frontend.headers["expect"] == "100-continue"
    assert to_backend.content == ROWS and to_backend.headers["expect"] == "100-continue"
    wanted = "Basic " + base64.b64encode(b"root:pw").decode()
    assert to_backend.headers["authorization"] == wanted and to_frontend.headers["authorization"] == wanted
    assert str(to_backend.url) == "http://be-1.example:8040/api/kube/t/_stream_load"


def test_a_load_names_label_format_time_zone_deletions_and_lets_no_row_be_dropped():
    doris = FakeDoris(GOOD)
    load(doris)
    headers = doris.requests[-1].headers
    assert headers["label"] == "l1" and headers["timeout"] == "120" and headers["timezone"] == "UTC"
    assert headers["format"] == "json" and headers["read_json_by_line"] == "true"
    assert headers["hidden_columns"] == "__DORIS_DELETE_SIGN__" and "columns" not in headers
    assert headers["max_filter_ratio"] == "0" and headers["strict_mode"] == "true"
    assert headers["content-length"] == str(len(ROWS)) and "transfer-encoding" not in headers


def test_the_password_goes_to_no_host_that_is_not_allowed():
    doris = FakeDoris(GOOD, location="http://root:secret@evil.example:8040/api/kube/t/_stream_load?")
    with pytest.raises(errors.Refused, match=r"evil\.example.*doris\.backends") as refusal:
        load(doris)
    assert "secret" not in str(refusal.value)
    assert not doris.sent_to("evil.example")


def test_without_a_list_only_the_frontends_own_host_is_allowed():
    own = "http://root:secret@fe.example:8040/api/kube/t/_stream_load?"
    with pytest.raises(errors.Refused):
        load(FakeDoris(GOOD), backends=())
    doris = FakeDoris(GOOD, location=own)
    seen = []

    def answer(request):
        seen.append(request.url.port)
        return httpx.Response(200, json=GOOD) if request.url.port == 8040 else doris(request)

    chosen = Settings(frontend="fe.example:8030", database="kube", backends=())
    with StreamLoad(chosen, transport=httpx.MockTransport(answer)) as own_host:
        assert own_host.load("t", ROWS, rows=2, label="l").outcome is replies.Outcome.LOADED
    assert seen == [8030, 8040]


def test_the_backend_is_asked_for_once_and_again_after_it_failed():
    doris = FakeDoris(GOOD, GOOD, httpx.ConnectError("refused"), GOOD)
    loads = client(doris)
    loads.load("t", ROWS, rows=2, label="l1")
    loads.load("t", ROWS, rows=2, label="l2")
    assert len(doris.sent_to("fe.example")) == 1
    with pytest.raises(errors.Offline):
        loads.load("t", ROWS, rows=2, label="l3")
    loads.load("t", ROWS, rows=2, label="l3")
    assert len(doris.sent_to("fe.example")) == 2


def test_publish_timeout_is_a_success_that_is_not_visible_yet():
    assert load(FakeDoris({**GOOD, "Status": "Publish Timeout"})).outcome is replies.Outcome.NOT_YET_VISIBLE


def test_a_used_label_that_finished_was_loaded_before():
    doris = FakeDoris({"Status": "Label Already Exists", "ExistingJobStatus": "FINISHED"})
    assert load(doris).outcome is replies.Outcome.ALREADY_LOADED


@pytest.mark.parametrize("state", ["RUNNING", "PRECOMMITTED", ""])
def test_a_used_label_that_has_not_finished_is_waited_for(state):
    doris = FakeDoris(
        {"Status": "Label Already Exists", "ExistingJobStatus": state}, states=["PREPARE", "PRECOMMITTED", "VISIBLE"]
    )
    loads = client(doris)
    assert loads.load("t", ROWS, rows=2, label="l1").outcome is replies.Outcome.ALREADY_LOADED
    assert len(loads.naps) == 2


@pytest.mark.parametrize(
    ("state", "outcome"),
    [("VISIBLE", replies.Outcome.ALREADY_LOADED), ("COMMITTED", replies.Outcome.NOT_YET_VISIBLE)],
)
@pytest.mark.parametrize(
    "answer",
    [
        httpx.ReadError("reset"),
        httpx.ReadTimeout("late"),
        httpx.RemoteProtocolError("gone"),
        httpx.WriteError("broken pipe"),
        httpx.Response(502, text="bad gateway"),
        httpx.Response(200, text="<html>"),
    ],
)
def test_a_lost_reply_is_settled_by_the_label_before_anything_is_sent_again(answer, state, outcome):
    doris = FakeDoris(answer, states=[state])
    assert load(doris).outcome is outcome
    assert len(doris.sent_to("be-1.example")) == 1


@pytest.mark.parametrize("state", ["ABORTED", "UNKNOWN"])
def test_a_lost_reply_of_a_load_that_never_was_may_be_sent_again(state):
    with pytest.raises(errors.Offline, match="nothing was loaded"):
        load(FakeDoris(httpx.ReadError("reset"), states=[state]))


def test_a_label_that_stays_open_is_left_open_after_a_while(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(streamload.clock, "monotonic_s", lambda: now.__setitem__(0, now[0] + 1) or now[0])
    with pytest.raises(errors.Offline, match="still PREPARE"):
        load(FakeDoris(httpx.ReadError("reset"), states=["PREPARE"]))


def test_bad_rows_are_told_with_the_first_lines_of_the_error_log():
    doris = FakeDoris(
        {
            "Status": "Fail",
            "Message": "[DATA_QUALITY_ERROR]too many filtered rows",
            "ErrorURL": "http://be-1.example:8040/api/_load_error_log?file=x",
        }
    )
    with pytest.raises(errors.BadRows, match="too many filtered rows") as bad:
        load(doris)
    assert "not nullable" in bad.value.details
    assert "authorization" not in doris.requests[-1].headers


def test_an_error_log_on_a_strange_host_is_not_fetched():
    doris = FakeDoris(
        {
            "Status": "Fail",
            "Message": "[DATA_QUALITY_ERROR]too many filtered rows",
            "ErrorURL": "http://10.0.0.9:8040/x",
            "FirstErrorMsg": "row 1",
        }
    )
    with pytest.raises(errors.BadRows) as bad:
        load(doris)
    assert bad.value.details == "row 1" and not doris.sent_to("10.0.0.9")


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("[INTERNAL_ERROR]tablet error: [E-235]too many versions", errors.Busy),
        ("[INTERNAL_ERROR]TOO_MANY_VERSION reduce the frequency of loading data", errors.Busy),
        ("current running txns on db 10 is 1000, larger than limit 1000", errors.Busy),
        ("[MEM_LIMIT_EXCEEDED]process memory exceeded", errors.Busy),
        ("[NOT_AUTHORIZED]no valid Basic authorization", errors.Refused),
        ("[ANALYSIS_ERROR]TStatus: errCode = 2, detailMessage = unknown table, tableName=t", errors.Refused),
        ("Table t has sequence column, need to specify the sequence column", errors.Refused),
        ("[INTERNAL_ERROR]some tablet failed", errors.Offline),
    ],
)
def test_a_failed_load_is_sorted_by_its_message(message, kind):
    with pytest.raises(kind) as failure:
        load(FakeDoris({"Status": "Fail", "Message": message}))
    assert failure.type is kind
    assert (failure.value.retry_after_s or 0) >= (5 if kind is errors.Busy else 0)


def test_a_frontend_that_refuses_with_http_200_is_believed():
    answer = httpx.Response(200, json={"msg": "Unauthorized", "code": 401, "data": "Access denied", "count": 0})
    doris = FakeDoris(GOOD, frontend=answer)
    with pytest.raises(errors.Refused, match="Access denied"):
        load(doris)
    assert not doris.sent_to("be-1.example")


def test_a_success_that_counts_fewer_rows_than_were_sent_is_no_success():
    with pytest.raises(errors.RowsLost, match="0 rows of 2"):
        load(FakeDoris({"Status": "Success", "NumberTotalRows": 0}))


def test_a_frontend_that_is_down_is_offline():
    def down(request):
        raise httpx.ConnectError("refused")

    with pytest.raises(errors.Offline, match=r"fe\.example"):
        load(down)


def test_the_state_of_a_label_is_asked_with_the_label_as_it_is():
    doris = FakeDoris(GOOD, states=["VISIBLE"])
    assert client(doris).label_state("kc:job_wait:1") == "VISIBLE"
    assert doris.requests[-1].url.params["label"] == "kc:job_wait:1"


def test_a_reply_that_is_no_object_is_settled_by_the_label():
    doris = FakeDoris(httpx.Response(200, content=json.dumps([1]).encode()), states=["VISIBLE"])
    assert load(doris).outcome is replies.Outcome.ALREADY_LOADED
