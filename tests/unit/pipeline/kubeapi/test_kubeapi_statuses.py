from __future__ import annotations

import json
from typing import Any

import pytest

from pipeline.kubeapi import statuses
from pipeline.kubeapi.statuses import Action


def decide(http_code: int = 0, **status: Any) -> Action:
    return statuses.action_for(statuses.read_status(json.dumps({"kind": "Status", **status}).encode(), http_code))


@pytest.mark.parametrize(
    ("http_code", "status"),
    [
        pytest.param(
            0, {"code": 410, "reason": "Expired", "message": "too old resource version: 222 (234)"}, id="cache"
        ),
        pytest.param(
            0,
            {"code": 410, "reason": "Expired", "message": "The resourceVersion for the provided watch is too old."},
            id="no cache",
        ),
        pytest.param(0, {"code": 410, "reason": "Gone"}, id="legacy"),
        pytest.param(410, {"code": 410, "reason": "Expired", "metadata": {"continue": "abc"}}, id="continue token"),
        pytest.param(410, {"reason": "Expired"}, id="exact"),
        pytest.param(0, {"reason": "Expired"}, id="only a reason"),
        pytest.param(0, {"reason": "Gone"}, id="only the old reason"),
        pytest.param(0, {"message": "too old resource version: 1 (2)"}, id="only a text"),
        pytest.param(0, {"message": "410: gone"}, id="code in the text"),
    ],
)
def test_a_version_that_is_too_old_means_list_again(http_code: int, status: dict[str, Any]) -> None:
    assert decide(http_code, **status) is Action.RELIST


def test_a_version_from_the_future_is_told_apart() -> None:
    cause = {
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
        "retryAfterSeconds": 1,
    }
    body = json.dumps({"code": 504, "reason": "Timeout", "message": "x", "details": cause}).encode()
    problem = statuses.read_status(body, 504)
    assert problem.ahead
    assert problem.retry_after_s == 1.0
    assert statuses.action_for(problem) is Action.RELIST
    assert statuses.read_status(
        b'{"code":504,"message":"Timeout: Too large resource version: 9000, current: 5200"}'
    ).ahead


@pytest.mark.parametrize(
    ("http_code", "status", "action"),
    [
        (401, {"reason": "Unauthorized"}, Action.REFRESH_TOKEN),
        (0, {"message": "401: Unauthorized"}, Action.REFRESH_TOKEN),
        (0, {"reason": "Unauthorized"}, Action.REFRESH_TOKEN),
        (403, {"reason": "Forbidden"}, Action.DISABLE_KEEP_OTHERS),
        (0, {"message": 'pods is forbidden: User "x" cannot list'}, Action.DISABLE_KEEP_OTHERS),
        (404, {"message": "404 page not found"}, Action.NOT_SERVED),
        (0, {"reason": "NotFound"}, Action.NOT_SERVED),
        (429, {"reason": "TooManyRequests"}, Action.RECONNECT_BACKOFF),
        (500, {"reason": "InternalError"}, Action.RECONNECT_BACKOFF),
        (503, {"reason": "Expired"}, Action.RECONNECT_BACKOFF),
        (504, {"reason": "Timeout"}, Action.RECONNECT_BACKOFF),
        (422, {"reason": "Invalid"}, Action.RECONNECT_BACKOFF),
        (400, {"message": "invalid label selector"}, Action.RECONNECT_BACKOFF),
        (400, {"message": 'invalid resource version: resourceVersion: Invalid value: "None"'}, Action.RELIST),
        (500, {"message": 'resourceVersion: Invalid value: "None": strconv.ParseUint: invalid syntax'}, Action.RELIST),
        (0, {"reason": "SomethingNew", "message": "no idea"}, Action.RECONNECT_BACKOFF),
        (0, {}, Action.RECONNECT_BACKOFF),
    ],
)
def test_code_comes_first_then_reason_then_text(http_code: int, status: dict[str, Any], action: Action) -> None:
    assert decide(http_code, **status) is action


@pytest.mark.parametrize("body", [b"", b"<html>502</html>", b"null", b"[]", b"\xff\xfe"])
def test_a_body_that_is_no_status_leaves_the_http_code(body: bytes) -> None:
    problem = statuses.read_status(body, 403)
    assert problem.code == 403
    assert statuses.action_for(problem) is Action.DISABLE_KEEP_OTHERS


def test_the_headers_wait_comes_before_the_bodys() -> None:
    body = b'{"details":{"retryAfterSeconds":9}}'
    assert statuses.read_status(body, 429, retry_after_s=2.0).retry_after_s == 2.0
    assert statuses.read_status(body, 429).retry_after_s == 9.0


def test_details_of_another_shape_do_not_hide_the_code() -> None:
    problem = statuses.read_status(b'{"code":"410","reason":"Expired","details":"text"}')
    assert (problem.code, problem.reason) == (410, "Expired")


def test_a_proxys_page_is_kept_short() -> None:
    assert len(statuses.read_status(b"<" * 100_000, 502).message) == 1000
