"""The whole collector under much input, on little of it, and without any: against a scripted server on loopback."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from collector.watch import inbox
from pipeline.kubeapi.progress import State
from pipeline.records.gaps import Gap
from pipeline.telemetry import catalogue
from pipeline.telemetry.metrics import REGISTRY
from tests.support.cluster import poll
from tests.support.collecting import Collecting
from tests.support.scripted_api import Exchange, ScriptedApi, Then, answer, chunks, page, serve, status
from tests.support.scripted_transport import frame, pod


def kubeconfig(folder: Path, api: ScriptedApi) -> Path:
    path = folder / "kubeconfig"
    path.write_text(json.dumps(api.kubeconfig()))
    return path


def event(n: int) -> dict[str, Any]:
    return {
        "metadata": {"name": f"e{n}", "namespace": "n", "uid": f"e{n}", "resourceVersion": str(100 + n)},
        "involvedObject": {"kind": "Pod", "namespace": "n", "name": "a", "uid": "uid-a", "apiVersion": "v1"},
        "reason": "Said", "message": "x", "lastTimestamp": "2026-03-02T08:00:00Z", "count": 1,
    }  # fmt: skip


def test_events_are_joined_from_what_is_known_and_cost_no_request(tmp_path: Path) -> None:
    with ScriptedApi() as api:
        serve(api, "uid", "events")
        api.watches.will(chunks(*(frame("ADDED", event(n)) for n in range(1000)), then=Then.SILENCE))
        with Collecting(kubeconfig(tmp_path, api), tmp_path / "data", disabled_kinds=["pods"]) as collecting:
            poll("all came", lambda: len(collecting.events()) == 1000)
            assert (len(api.lists.requests), len(api.watches.requests)) == (1, 1)


def test_only_kinds_that_are_wanted_are_asked_for(tmp_path: Path) -> None:
    with ScriptedApi() as api:
        serve(api, "uid", "nodes", "pods", "events", "secrets", "configmaps")
        with Collecting(kubeconfig(tmp_path, api), tmp_path / "data", disabled_kinds=["pods"]) as collecting:
            poll("all kinds came", collecting.ready)
            assert {request.path for request in api.lists.requests} == {"/api/v1/nodes", "/api/v1/events"}


def test_a_kind_that_is_forbidden_has_a_metric_and_a_log_line_until_it_is_allowed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def forbidden(kind: str) -> float | None:
        return REGISTRY.get_sample_value("kube_collector_watch_forbidden", {"kind": kind})

    with ScriptedApi() as api:
        serve(api, "uid", "nodes", "pods")
        pods = api.other("/api/v1/pods", status(403, "Forbidden", "pods is forbidden"))
        with Collecting(kubeconfig(tmp_path, api), tmp_path / "data") as collecting:
            poll("it is told, of that kind alone", lambda: (forbidden("pods"), forbidden("nodes")) == (1, 0))
            poll("and tried again", lambda: len(pods.requests) >= 4)
            assert (forbidden("pods"), forbidden("nodes")) == (1, 0)
            pods.will(page("10"), chunks(then=Then.SILENCE))
            poll("it is allowed", collecting.ready)
            poll("the metric is clear", lambda: forbidden("pods") == 0)
    (told,) = [record.msg for record in caplog.records if "kind_forbidden" in str(record.msg)]
    assert told["kind"] == "pods"
    assert "pods is forbidden" in told["error"]


def gaps_of(collecting: Collecting, kind: str) -> list[Gap]:
    return [gap.data for gap in collecting.gaps() if gap.data.kind == kind]


def test_a_kind_that_is_disabled_and_wanted_again_is_compared_with_what_was_known(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def node(name: str, version: str, **spec: bool) -> dict[str, Any]:
        return {"metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": version}, "spec": spec}

    with ScriptedApi() as api:
        serve(api, "uid", "nodes", "pods")
        stay = chunks(then=Then.SILENCE)
        nodes = api.other(
            "/api/v1/nodes", page("10", node("goes", "1"), node("changes", "2"), node("stays", "3")), stay
        )
        with Collecting(kubeconfig(tmp_path, api), tmp_path / "data") as collecting:
            poll("all kinds are watched", collecting.streaming)
            wanted = collecting.settings
            collecting.settings = wanted.model_copy(update={"disabled_kinds": ("nodes",)})
            asked = len(nodes.requests)
            for _ in range(3):
                collecting.restart()
                poll("the others came", collecting.ready)
            assert len(nodes.requests) == asked
            (told,) = gaps_of(collecting, "Node")
            assert (told.why, told.from_version, told.to_version) == ("disabled", "10", None)
            assert len(collecting.changes("Node")) == 3, "nobody says that they are gone"

            collecting.settings = wanted
            later = page("20", node("changes", "12", unschedulable=True), node("stays", "3"), node("comes", "13"))
            nodes.will(later, stay)
            collecting.restart()
            poll("it is compared", lambda: len(gaps_of(collecting, "Node")) == 2)
            poll("it is watched", collecting.streaming)
            said = [(each.change, each.name, each.unseen_since) for each in collecting.changes("Node")[3:]]
            unseen = [("deleted", "goes"), ("modified", "changes"), ("added", "comes")]
            assert said == [(*each, told.from_ms) for each in unseen]
            again = gaps_of(collecting, "Node")[-1]
            assert (again.why, again.from_ms, again.to_version, again.changed) == ("disabled", told.from_ms, "20", 3)
            nodes.will(later, stay)
            collecting.restart()
            poll("that is over", lambda: [gap.why for gap in gaps_of(collecting, "Node")[2:]] == ["restart"])
    warned = [record.msg for record in caplog.records if "kind_not_followed_any_more" in str(record.msg)]
    assert [each["kind"] for each in warned] == ["nodes"]


def test_a_big_list_comes_page_by_page_and_no_faster_than_it_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, pages, size = threading.Event(), 60, 100
    large = {"labels": {"x": "y" * 2000}}

    def part(number: int) -> Any:
        items = [pod(f"p{number}-{n}", str(1 + number * size + n)) for n in range(size)]
        for each in items:
            each["metadata"] |= large
        return page("99999", *items, token="more" if number < pages - 1 else "")

    monkeypatch.setattr(inbox.Inbox.__init__, "__defaults__", (500_000,))
    monkeypatch.setattr("collector.watch.scribe.Scribe.hear", _held_until(go_on))
    with ScriptedApi() as api:
        serve(api, "uid", "pods")
        api.lists.will(*(part(number) for number in range(pages)))
        with Collecting(kubeconfig(tmp_path, api), tmp_path / "data") as collecting:
            poll("it is full", lambda: collecting.collector._live and collecting.collector._live.told.bytes > 500_000)
            asked = len(api.lists.requests)
            assert asked <= 6, "the rest stays with the server"
            go_on.set()
            poll("all came", lambda: len(collecting.changes("Pod")) == pages * size, 180)
        assert len(api.lists.requests) == pages
        assert {request.query["limit"] for request in api.lists.requests} == {"500"}


def _held_until(go_on: threading.Event) -> Any:
    from collector.watch.scribe import Scribe

    hear = Scribe.hear

    def held(scribe: Scribe, watch: str, happening: Any) -> None:
        go_on.wait(120.0)
        hear(scribe, watch, happening)

    return held


def test_while_the_server_is_away_what_is_known_says_how_old_it_is(tmp_path: Path) -> None:
    with ScriptedApi() as api:
        serve(api, "uid", "pods")
        with Collecting(kubeconfig(tmp_path, api), tmp_path / "data", silent_after=0.5) as collecting:
            poll("it watches", lambda: state_of(collecting, "pods") is State.WATCHING)
            gone: Any = Exchange.wait_until_left
            api.watches.will(answer(503, b"away"))
            api.lists.will(gone)
            api.probes.will(answer(503, b"away"))
            api.drop_connections()
            poll("it is told", lambda: "silent for" in collecting.check("watch pods").detail)
            assert not collecting.check("watch pods").ok
            assert collecting.check("collector").ok, "a restart would not help"
            poll("the metric too", lambda: catalogue.watch_last_event_age.labels("pods")._value.get() >= 1.0)
            (row,) = collecting.collector.state()["watches"]
            assert row["silent_ms"] >= 1000
            api.probes.will(page("1"))
            api.watches.will(chunks(then=Then.SILENCE), chunks(frame("ADDED", pod("back", "12")), then=Then.SILENCE))
            api.drop_connections()
            poll("it comes back", lambda: state_of(collecting, "pods") is State.WATCHING)


def state_of(collecting: Collecting, kind: str) -> State | None:
    """Whatever the time since it was heard of: that alone decides on `ready`, and passes."""
    progress = collecting.collector.progress().get(kind)
    return progress.state if progress is not None else None
