from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import Transient, UserError
from pipeline.kubeapi import credentials
from pipeline.kubeapi.credentials import Credentials


def kubeconfig(folder: Path, user: dict[str, Any] | None, name: str = "kubeconfig") -> Path:
    content = {
        "current-context": "one",
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:6443/", "insecure-skip-tls-verify": True}}],
        "users": [{"name": "u", "user": user}] if user is not None else [],
        "contexts": [
            {"name": "one", "context": {"cluster": "c", "user": "u"}},
            {"name": "two", "context": {"cluster": "c"}},
        ],
    }
    path = folder / name
    path.write_text(json.dumps(content))
    return path


def test_a_token_in_the_file_becomes_the_header(tmp_path: Path) -> None:
    who = Credentials(kubeconfig(tmp_path, {"token": "abc"}))
    assert who.authorization() == "Bearer abc"
    assert who.host == "https://127.0.0.1:6443"


def test_a_token_file_is_read_for_every_connection_and_comes_first(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first\n")
    who = Credentials(kubeconfig(tmp_path, {"token": "inline", "tokenFile": "token"}))
    assert who.authorization() == "Bearer first"
    (tmp_path / "token").write_text("second\n")
    assert who.authorization() == "Bearer second"


def test_a_token_file_that_is_gone_for_a_moment_is_worth_another_try(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first")
    who = Credentials(kubeconfig(tmp_path, {"tokenFile": str(tmp_path / "token")}))
    (tmp_path / "token").unlink()
    with pytest.raises(Transient, match="cannot read our token"):
        who.authorization()


@pytest.mark.parametrize("user", [None, {}, {"username": "", "password": ""}])
def test_a_user_without_a_token_sends_no_header_of_one(tmp_path: Path, user: dict[str, Any] | None) -> None:
    assert "Bearer" not in str(Credentials(kubeconfig(tmp_path, user)).authorization())


def test_a_context_without_a_user_is_anonymous(tmp_path: Path) -> None:
    assert Credentials(kubeconfig(tmp_path, {"token": "abc"}), "two").authorization() is None


def test_an_exec_plugin_is_asked(tmp_path: Path) -> None:
    answer = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "from-plugin"},
    }
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "echo",
        "args": [json.dumps(answer)],
        "interactiveMode": "Never",
    }
    assert Credentials(kubeconfig(tmp_path, {"exec": plugin})).authorization() == "Bearer from-plugin"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "not: a kubeconfig",
        "[1, 2]",
        "text",
        "{unclosed",
        '{"current-context": "x", "contexts": [], "clusters": []}',
    ],
)
def test_a_kubeconfig_that_makes_no_sense_is_the_users_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "bad"
    path.write_text(content)
    with pytest.raises(UserError) as caught:
        Credentials(path)
    assert caught.value.where == str(path)
    assert caught.value.fix


def test_a_missing_kubeconfig_and_a_missing_context_are_the_users_errors(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        Credentials(tmp_path / "nowhere")
    with pytest.raises(UserError, match="three"):
        Credentials(kubeconfig(tmp_path, {"token": "abc"}), "three")


def test_reading_again_takes_what_the_file_says_now_and_keeps_the_old_if_it_is_broken(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, {"token": "old"})
    who = Credentials(path)
    kubeconfig(tmp_path, {"token": "new"})
    who.read_again()
    assert who.authorization() == "Bearer new"
    path.write_text("{broken")
    with pytest.raises(Transient):
        who.read_again()
    assert who.authorization() == "Bearer new"


def test_a_pod_with_a_service_account_needs_no_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "SERVICE_ACCOUNT", tmp_path)
    environ = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}
    assert not credentials.in_cluster(environ)
    (tmp_path / "token").write_text("t")
    assert credentials.in_cluster(environ)
    assert not credentials.in_cluster({})
