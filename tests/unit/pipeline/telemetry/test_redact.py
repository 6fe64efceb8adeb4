"""What must never be seen."""

from __future__ import annotations

import pytest

from pipeline.telemetry import redact


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer ***"),
        ("basic dXNlcjpwYXNzd29yZA==", "basic ***"),
        ("mysql://root:pw@fe:9030/db", "mysql://***@fe:9030/db"),
        ("http://:pw@h/", "http://***@h/"),
        (
            "https://oapi.dingtalk.com/robot/send?access_token=abc&x=1",
            "https://oapi.dingtalk.com/robot/send?access_token=***&x=1",
        ),
        ("https://hooks.slack.com/services/T0/B0/xyz failed", "https://hooks.slack.com/services/*** failed"),
        ("https://open.feishu.cn/open-apis/bot/v2/hook/1234-5678", "https://open.feishu.cn/open-apis/bot/v2/hook/***"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "***"),
        ("http://fe:8030/api/db/t/_stream_load?label=a", "http://fe:8030/api/db/t/_stream_load?label=a"),
        ("pod default/train-0 needs 8 GPUs", "pod default/train-0 needs 8 GPUs"),
    ],
)
def test_secrets_are_taken_out_of_text_and_nothing_else(text: str, clean: str) -> None:
    assert redact.text(text) == clean


@pytest.mark.parametrize(
    "key", ["password", "doris_password", "client_secret", "bearer_token", "Authorization", "api_key", "webhook_url"]
)
def test_a_field_that_is_named_like_a_secret_is_masked_whole(key: str) -> None:
    assert redact.field(key, "abc") == "***"
    assert redact.field("outer", {key: ["abc"]}) == {key: "***"}


@pytest.mark.parametrize(
    ("key", "value"), [("tokens", 5), ("passed", "yes"), ("key", "a/b"), ("password", None), ("password", "")]
)
def test_other_fields_are_left_alone(key: str, value: object) -> None:
    assert redact.field(key, value) == value


def test_any_value_comes_out_as_plain_data() -> None:
    assert redact.field("x", [ValueError("http://a:b@c/"), {1: {2}}]) == ["http://***@c/", {"1": [2]}]
