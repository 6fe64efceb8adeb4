"""The admin server: what each path answers, and what happens when its port is taken."""

from __future__ import annotations

import json
import socket
import urllib.request
from typing import Any

import pytest

from pipeline.errors import ConfigInvalid, UserError
from pipeline.process import admin
from pipeline.process.admin import Admin
from pipeline.process.stage import Check


class Asked:
    """Answers what the test put in."""

    def __init__(self, *checks: Check, reload: dict[str, Any] | Exception | None = None) -> None:
        self._checks = list(checks)
        self._reload = reload or {}

    def checks(self) -> list[Check]:
        return self._checks

    def shown_settings(self) -> list[dict[str, Any]]:
        return [{"key": "doris.password", "value": "***", "origin": "default"}]

    def shown_state(self) -> dict[str, Any]:
        return {"collector": {"pods": "1200"}}

    def reload(self) -> dict[str, Any]:
        if isinstance(self._reload, Exception):
            raise self._reload
        return self._reload


WELL = Check("watch", True, "last turn 1 s ago", live=True)
NEIGHBOUR = Check("doris", False, "does not answer")
HANGS = Check("spool", False, "last turn 90 s ago", live=True)


@pytest.mark.parametrize(
    ("checks", "path", "status", "body"),
    [
        ((WELL,), "/healthz", 200, "ok\n"),
        ((WELL, NEIGHBOUR), "/healthz", 200, "ok\n"),
        ((WELL, HANGS), "/healthz", 503, "failed: spool\n"),
        ((WELL,), "/readyz", 200, "ok\n"),
        ((WELL, NEIGHBOUR, HANGS), "/readyz", 503, "failed: doris, spool\n"),
        (
            (WELL, NEIGHBOUR),
            "/readyz?verbose",
            503,
            "[+] watch: last turn 1 s ago\n[-] doris: does not answer\nfailed: doris\n",
        ),
    ],
)
def test_health_depends_on_the_process_and_readiness_on_neighbours_too(
    checks: tuple[Check, ...], path: str, status: int, body: str
) -> None:
    answer = admin.answer(Asked(*checks), "GET", path)
    assert (answer.status, answer.body.decode()) == (status, body)


def test_settings_state_and_version_are_json() -> None:
    for path, expected in [
        ("/debug/config", [{"key": "doris.password", "value": "***", "origin": "default"}]),
        ("/debug/state", {"collector": {"pods": "1200"}}),
    ]:
        answer = admin.answer(Asked(), "GET", path)
        assert (answer.content_type, json.loads(answer.body)) == ("application/json", expected)
    assert set(json.loads(admin.answer(Asked(), "GET", "/version").body)) == {"version"}


def test_metrics_are_those_of_the_catalogue() -> None:
    answer = admin.answer(Asked(), "GET", "/metrics")
    assert b"# TYPE kube_collector_records_total counter" in answer.body
    assert answer.content_type.startswith("text/plain")


def test_a_reload_is_a_post_and_a_bad_one_says_that_nothing_changed() -> None:
    assert admin.answer(Asked(), "GET", "/-/reload").status == 405
    taken = admin.answer(Asked(reload={"taken": ["log.level"]}), "POST", "/-/reload")
    assert (taken.status, json.loads(taken.body)) == (200, {"taken": ["log.level"]})
    refused = admin.answer(Asked(reload=ConfigInvalid(["a.yaml:1:1: x: unknown section"])), "POST", "/-/reload")
    assert refused.status == 400
    assert refused.body.decode() == "a.yaml:1:1: x: unknown section\nThe settings in use are unchanged.\n"


def test_an_unknown_path_lists_the_known_ones() -> None:
    answer = admin.answer(Asked(), "GET", "/metric")
    assert answer.status == 404 and b"/metrics" in answer.body


def test_it_serves_over_a_real_socket_and_stops() -> None:
    server = Admin(Asked(WELL), "127.0.0.1", 0)
    server.start()
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/readyz", timeout=10) as response:
            assert response.read() == b"ok\n"
    finally:
        server.stop()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", server.port)) != 0


def test_a_taken_port_names_itself_and_how_to_change_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(UserError) as caught:
            Admin(Asked(), "127.0.0.1", port).start()
    assert caught.value.what == f"port {port} on 127.0.0.1 is taken by another program"
    assert caught.value.fix == (
        "End that program, or set another one with --set admin.port=PORT or KUBE_COLLECTOR__ADMIN__PORT=PORT."
    )
