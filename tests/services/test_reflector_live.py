"""The reflector against a real API server: what it sends, what it forgets, and what becomes of us when it dies."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pipeline.kubeapi import discovery, server
from pipeline.kubeapi import happenings as tell
from pipeline.kubeapi.client import Client
from pipeline.kubeapi.credentials import Credentials
from pipeline.kubeapi.happenings import Doing, Happening, How, Why
from pipeline.kubeapi.options import Options
from pipeline.kubeapi.reflector import Reflector
from pipeline.kubeapi.resources import Collection, Resource
from pipeline.kubeapi.transport import Refused
from tests.support.cluster import Cluster, poll

pytestmark = pytest.mark.services

QUICK = Options(backoff_first_s=0.1, backoff_cap_s=0.5, slow_retry_s=0.3, settled_s=0.5, believed_after_s=0.3)
MAPS = Resource("", "v1", "configmaps", "ConfigMap")
EVENTS = Resource("events.k8s.io", "v1", "events", "Event")
PODS = Resource("", "v1", "pods", "Pod")


class Watcher:
    """A reflector in its thread, with a consumer that keeps name → version as the happenings tell it."""

    def __init__(self, client: Client, collection: Collection, options: Options = QUICK, **more: Any) -> None:
        self.reflector = Reflector(collection, client.connection(), options, **more)
        self.told: list[Happening] = []
        self.known: dict[str, str] = {}
        self.on_page: Callable[[tell.ListPage], None] = lambda _: None
        self._listed: set[str] = set()
        self.thread = threading.Thread(target=self.reflector.run, args=(self._consume,))

    def of(self, kind: type[Any]) -> list[Any]:
        return [each for each in list(self.told) if type(each) is kind]

    def has(self, *names: str) -> bool:
        return set(self.known) == set(names)

    def _consume(self, happening: Happening) -> None:
        match happening:
            case tell.ListStarted() | tell.ListRestarted():
                self._listed = set()
            case tell.ListPage():
                for name, version in map(_name_and_version, happening.items):
                    self.known[name] = version
                    self._listed.add(name)
                if happening.last:
                    self.known = {name: self.known[name] for name in self._listed & set(self.known)}
                self.on_page(happening)
            case tell.Frames():
                for frame in happening.frames:
                    name, version = _name_and_version(frame.object)
                    self.known[name] = version
                    if frame.type == "DELETED":
                        del self.known[name]
        self.told.append(happening)


def _name_and_version(item: msgspec.Raw) -> tuple[str, str]:
    metadata = msgspec.json.decode(item)["metadata"]
    return metadata["name"], metadata["resourceVersion"]


@contextlib.contextmanager
def watching(kubeconfig: Path, collection: Collection, options: Options = QUICK, **more: Any) -> Iterator[Watcher]:
    with contextlib.closing(Client(Credentials(kubeconfig))) as client:
        watcher = Watcher(client, collection, options, **more)
        watcher.thread.start()
        try:
            yield watcher
        finally:
            watcher.reflector.stop()
            watcher.thread.join(60.0)
            assert not watcher.thread.is_alive()


_numbers = itertools.count()


@pytest.fixture
def namespace(kube: Cluster) -> str:
    name = f"live-{next(_numbers)}"
    kube.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    return name


def make(kube: Cluster, namespace: str, *names: str) -> None:
    for name in names:
        kube.request(
            "POST",
            f"/api/v1/namespaces/{namespace}/configmaps",
            {"metadata": {"name": name}, "data": {"text": "资源不足"}},
        )


def remove(kube: Cluster, namespace: str, name: str) -> None:
    kube.request("DELETE", f"/api/v1/namespaces/{namespace}/configmaps/{name}")


def make_event(kube: Cluster, namespace: str, name: str) -> None:
    body = {
        "metadata": {"name": name},
        "eventTime": "2026-03-02T08:00:00.123456Z",
        "action": "Testing",
        "reason": "Testing",
        "type": "Normal",
        "note": name,
        "reportingController": "example.com/test",
        "reportingInstance": "test-1",
        "regarding": {"kind": "Pod", "name": "a", "namespace": namespace},
    }
    kube.request("POST", f"/apis/events.k8s.io/v1/namespaces/{namespace}/events", body)


def refused(call: Callable[[], object]) -> bool:
    try:
        call()
    except OSError:
        return True
    return False


def versions_in_use(watcher: Watcher) -> list[str]:
    return [each.from_version for each in watcher.of(tell.WatchStarted)]


# Read only: also against the cluster of KC_KUBECONFIG


@pytest.fixture
def kubeconfig(request: pytest.FixtureRequest) -> Path:
    own = os.environ.get("KC_KUBECONFIG")
    return Path(own) if own else request.getfixturevalue("kube").kubeconfig()


def test_discovery_names_what_can_be_watched(kubeconfig: Path) -> None:
    with contextlib.closing(Client(Credentials(kubeconfig))) as client:
        found = discovery.discover(client.get)
        assert found.find("", "pods") == PODS
        assert found.find("batch", "jobs") == Resource("batch", "v1", "jobs", "Job")
        assert found.find("", "nodes") == Resource("", "v1", "nodes", "Node", namespaced=False)
        only = discovery.discover(client.get, {"batch"})
        assert {each.group for each in only.resources} == {"batch"}


def test_the_server_says_who_it_is_and_what_we_may(kubeconfig: Path) -> None:
    with contextlib.closing(Client(Credentials(kubeconfig))) as client:
        assert server.version(client).startswith("v1.")
        assert len(server.cluster_uid(client)) == 36
        assert server.may(client, "list", PODS).allowed
        assert server.rules(client)


def test_namespaces_are_listed_and_watched(kubeconfig: Path) -> None:
    with watching(kubeconfig, Collection(Resource("", "v1", "namespaces", "Namespace", namespaced=False))) as watcher:
        poll("the watch is open", lambda: watcher.of(tell.WatchStarted))
    assert {"default", "kube-system"} <= set(watcher.known)
    assert watcher.of(tell.ListPage)[0].kind == "Namespace"


# Lists and watches


@pytest.mark.parametrize("streamed", [False, True])
def test_what_a_consumer_knows_is_what_the_server_has(kube: Cluster, namespace: str, streamed: bool) -> None:
    make(kube, namespace, "a", "b", "c", "d", "e")
    options = msgspec.structs.replace(QUICK, page_limit=2, streamed_list=streamed)
    with watching(kube.kubeconfig(), Collection(MAPS, namespace), options) as watcher:
        poll("the list is whole", lambda: watcher.has("a", "b", "c", "d", "e") and watcher.of(tell.WatchStarted))
        make(kube, namespace, "f")
        kube.patch(f"/api/v1/namespaces/{namespace}/configmaps/a", {"data": {"x": "1"}})
        remove(kube, namespace, "b")
        poll("the changes came", lambda: watcher.has("a", "c", "d", "e", "f"))
    frames = [(frame.type, frame.lossy) for each in watcher.of(tell.Frames) for frame in each.frames]
    assert frames == [("ADDED", False), ("MODIFIED", False), ("DELETED", False)]
    pages = watcher.of(tell.ListPage)
    assert (pages[-1].last, pages[-1].kind, pages[-1].api_version) == (True, "ConfigMap", "v1")
    if not streamed:
        assert [len(each.items) for each in pages] == [2, 2, 1]
        assert len({each.version for each in pages}) == 1


@pytest.mark.parametrize("streamed", [False, True])
def test_events_are_listed_and_watched_though_they_have_no_cache(kube: Cluster, namespace: str, streamed: bool) -> None:
    make_event(kube, namespace, "one")
    with watching(
        kube.kubeconfig(), Collection(EVENTS, namespace), msgspec.structs.replace(QUICK, streamed_list=streamed)
    ) as watcher:
        poll("the watch is open", lambda: watcher.of(tell.WatchStarted))
        make_event(kube, namespace, "two")
        poll("the event came", lambda: watcher.has("one", "two"))


def test_the_server_ends_a_watch_in_order_and_a_bookmark_before_it_moves_us_on(kube: Cluster, namespace: str) -> None:
    options = msgspec.structs.replace(QUICK, watch_timeout_s=5.0)
    with watching(kube.kubeconfig(), Collection(MAPS, namespace), options) as watcher:
        poll("the watch is open", lambda: watcher.of(tell.WatchStarted))
        make(kube, "default", f"beside-{namespace}")
        # The bookmark of the first watch may have been on its way already.
        poll("an object of another namespace moves it", lambda: len(set(versions_in_use(watcher))) > 1)
    assert watcher.of(tell.StreamEnded)[0].how is How.ORDERLY
    assert watcher.of(tell.Retrying) == []
    assert versions_in_use(watcher)[-1] in [each.version for each in watcher.of(tell.Bookmark)]
    assert watcher.known == {}


def test_resuming_from_a_checkpoint_brings_only_what_came_after_it(kube: Cluster, namespace: str) -> None:
    make(kube, namespace, "a")
    with watching(kube.kubeconfig(), Collection(MAPS, namespace)) as watcher:
        poll("the list is whole", lambda: watcher.of(tell.WatchStarted))
    make(kube, namespace, "b")
    with watching(
        kube.kubeconfig(), Collection(MAPS, namespace), resume_from=watcher.reflector.progress.version
    ) as resumed:
        poll("what came meanwhile", lambda: resumed.has("b"))
    assert resumed.of(tell.ListStarted) == []


# Versions that are of no use


def test_an_events_version_that_was_compacted_is_listed_again(kube: Cluster, namespace: str) -> None:
    make_event(kube, namespace, "one")
    options = msgspec.structs.replace(QUICK, watch_timeout_s=2.0)
    with watching(kube.kubeconfig(), Collection(EVENTS, namespace), options) as watcher:
        poll("the watch is open", lambda: watcher.of(tell.WatchStarted))
        make(kube, namespace, "moves", "the-revision")
        kube.compact()
        poll("the server forgot", lambda: watcher.of(tell.Expired))
        make_event(kube, namespace, "two")
        poll("all is known", lambda: watcher.has("one", "two"))
    (expired, *_) = watcher.of(tell.Expired)
    assert expired.why is Why.EXPIRED
    before = watcher.told[: watcher.told.index(expired)]
    ends_ms = [each.at_ms for each in before if isinstance(each, tell.StreamEnded) and each.how is How.ORDERLY]
    assert expired.from_ms >= ends_ms[-1], "until the orderly end before it nothing was missing"


def test_a_continue_token_that_was_compacted_begins_the_list_again(kube: Cluster, namespace: str) -> None:
    for name in ("one", "two", "three"):
        make_event(kube, namespace, name)
    compacted = False

    def forget(_: tell.ListPage) -> None:
        nonlocal compacted
        if not compacted:
            compacted = True
            make_event(kube, namespace, "four")
            make(kube, namespace, "moves-the-revision")
            kube.compact()

    with contextlib.closing(Client(Credentials(kube.kubeconfig()))) as client:
        watcher = Watcher(client, Collection(EVENTS, namespace), msgspec.structs.replace(QUICK, page_limit=1))
        watcher.on_page = forget
        watcher.thread.start()
        try:
            poll("the watch is open", lambda: watcher.of(tell.WatchStarted))
        finally:
            watcher.reflector.stop()
            watcher.thread.join(60.0)
    assert len(watcher.of(tell.ListRestarted)) == 1
    assert watcher.has("one", "two", "three", "four")
    assert watcher.of(tell.Expired) == []


@pytest.mark.parametrize("resource", [MAPS, EVENTS], ids=["cached", "events"])
@pytest.mark.parametrize("version", ["999999999", "None"])
def test_a_version_the_server_never_had_is_given_up(
    kube: Cluster, namespace: str, resource: Resource, version: str
) -> None:
    make(kube, namespace, "a")
    make_event(kube, namespace, "a")
    with watching(kube.kubeconfig(), Collection(resource, namespace), resume_from=version) as watcher:
        poll("the truth is known", lambda: watcher.has("a"))
    (expired,) = watcher.of(tell.Expired)
    assert (expired.from_version, expired.why) == (version, Why.AHEAD if version.isdigit() else Why.EXPIRED)


# The server dies, freezes, and comes back


def test_after_a_restart_a_quiet_kind_lists_again_and_misses_nothing(kube: Cluster, namespace: str) -> None:
    make(kube, namespace, "a", "b")
    with watching(kube.kubeconfig(), Collection(MAPS, namespace)) as watcher:
        poll("the watch is open", lambda: watcher.of(tell.WatchStarted))
        kube.kill_api()
        poll("the loss is seen", lambda: watcher.of(tell.Retrying))
        kube.start_api()
        remove(kube, namespace, "a")
        make(kube, namespace, "c")
        poll("the truth is known", lambda: watcher.has("b", "c"))
    assert watcher.of(tell.StreamEnded)[0].how is How.CONNECTION
    assert watcher.of(tell.Back)
    for expired in watcher.of(tell.Expired):
        assert expired.from_ms is not None
        assert expired.from_ms <= watcher.of(tell.StreamEnded)[0].at_ms


def test_an_old_version_after_an_orderly_restart_expires(kube: Cluster, namespace: str) -> None:
    make(kube, namespace, "a")
    with watching(kube.kubeconfig(), Collection(MAPS, namespace)) as watcher:
        poll("the watch is open", lambda: watcher.of(tell.WatchStarted))
    make(kube, namespace, "b", "c")
    kube.restart_api()
    with watching(
        kube.kubeconfig(), Collection(MAPS, namespace), resume_from=watcher.reflector.progress.version
    ) as resumed:
        poll("the truth is known", lambda: resumed.has("a", "b", "c"))
    (expired,) = resumed.of(tell.Expired)
    assert (expired.from_version, expired.why) == (watcher.reflector.progress.version, Why.EXPIRED)
    assert resumed.of(tell.StreamEnded)[0].how is How.ERROR


def test_a_frozen_server_is_found_and_nothing_is_missing_when_it_thaws(kube: Cluster, namespace: str) -> None:
    options = msgspec.structs.replace(QUICK, silent_s=3.0, list_read_timeout_s=3.0)
    with watching(kube.kubeconfig(), Collection(MAPS, namespace), options) as watcher:
        poll("the watch is open", lambda: watcher.of(tell.WatchStarted))
        kube.freeze_api()
        try:
            poll("the silence is found", lambda: any(each.doing is Doing.PROBE for each in watcher.of(tell.Retrying)))
        finally:
            kube.thaw_api()
        make(kube, namespace, "after")
        poll("what came after", lambda: watcher.has("after"))
    assert watcher.reflector.progress.silences >= 1


# Who we are and what we may


def test_one_forbidden_kind_leaves_the_others_alone_and_comes_when_it_is_allowed(kube: Cluster, namespace: str) -> None:
    role = kube.allow(
        "collector",
        [{"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["list", "watch"]}],
        f"first-{namespace}",
    )
    make(kube, namespace, "a")
    make_event(kube, namespace, "e")
    mine = kube.kubeconfig("collector")
    with watching(mine, Collection(MAPS)) as maps, watching(mine, Collection(EVENTS, namespace)) as events:
        poll("it is forbidden", lambda: maps.of(tell.Forbidden))
        poll("the other kind comes", lambda: events.has("e"))
        more = kube.allow(
            "collector",
            [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}],
            f"second-{namespace}",
        )
        poll("it is allowed", lambda: "a" in maps.known and maps.of(tell.Back))
        assert "cannot list resource" in maps.of(tell.Forbidden)[0].message
        assert len(maps.of(tell.Forbidden)) == 1
        assert events.of(tell.Retrying) == []
    kube.forbid(role)
    kube.forbid(more)


def test_reviews_tell_what_a_user_without_roles_may(kube: Cluster) -> None:
    with contextlib.closing(Client(Credentials(kube.kubeconfig("nobody")))) as client:
        assert not server.may(client, "list", PODS, "default").allowed
        assert not any("pods" in rule.resources for rule in server.rules(client))
        with pytest.raises(Refused, match="403 Forbidden"):
            server.cluster_uid(client)


def test_a_token_file_is_read_again_when_the_server_refuses_its_token(
    kube: Cluster, namespace: str, tmp_path: Path
) -> None:
    make(kube, namespace, "a")
    token = tmp_path / "token"
    token.write_text("expired-token\n")
    with watching(kube.kubeconfig("collector", auth={"tokenFile": str(token)}), Collection(MAPS, namespace)) as watcher:
        poll("it is refused", lambda: len(watcher.of(tell.Retrying)) >= 2)
        assert "401" in watcher.of(tell.Retrying)[0].error
        token.write_text("admin-token\n")
        poll("the new token does", lambda: watcher.has("a"))


def test_a_server_whose_certificate_does_not_verify_is_not_spoken_to(kube: Cluster, tmp_path: Path) -> None:
    other = tmp_path / "other.crt"
    make_ca = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-keyout",
        tmp_path / "k",
        "-out",
        other,
        "-subj",
        "/CN=other",
    ]
    subprocess.run(make_ca, check=True, stderr=subprocess.DEVNULL)
    with watching(kube.kubeconfig(ca=other), Collection(MAPS)) as watcher:
        poll("it is refused", lambda: watcher.of(tell.Retrying))
    assert "certificate does not verify" in watcher.of(tell.Retrying)[0].error
    assert watcher.known == {}


def test_a_custom_kind_is_waited_for_and_listed_anew_when_it_is_made_again(kube: Cluster) -> None:
    kinds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    definition = {
        "metadata": {"name": "trains.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"plural": "trains", "singular": "train", "kind": "Train", "listKind": "TrainList"},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
            ],
        },
    }
    trains = Collection(Resource("example.com", "v1", "trains", "Train", namespaced=False))

    def make_kind_with(name: str) -> None:
        kube.request("POST", kinds, definition)
        train = {"apiVersion": "example.com/v1", "kind": "Train", "metadata": {"name": name}}
        poll("an object can be made", lambda: not refused(lambda: kube.request("POST", trains.path, train)))

    with watching(kube.kubeconfig(), trains, msgspec.structs.replace(QUICK, watch_timeout_s=3.0)) as watcher:
        poll("it is not served", lambda: watcher.of(tell.NotServed))
        make_kind_with("first")
        poll("it is served", lambda: watcher.has("first"))
        kube.request("DELETE", f"{kinds}/trains.example.com")
        poll("it is gone", lambda: len(watcher.of(tell.NotServed)) >= 2)
        poll("the name is free", lambda: refused(lambda: kube.request("GET", f"{kinds}/trains.example.com")))
        make_kind_with("second")
        poll("it is served again", lambda: watcher.has("second"))
    assert [each.why for each in watcher.of(tell.ListStarted)] == [Why.START, Why.SERVED_AGAIN]


def test_a_dead_aggregated_api_does_not_hide_the_others(kube: Cluster) -> None:
    services = "/apis/apiregistration.k8s.io/v1/apiservices"
    spec = {"group": "dead.example.com", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 10}
    spec |= {"insecureSkipTLSVerify": True, "service": {"namespace": "default", "name": "nowhere"}}
    kube.request("POST", services, {"metadata": {"name": "v1.dead.example.com"}, "spec": spec})
    try:
        with contextlib.closing(Client(Credentials(kube.kubeconfig()))) as client:
            poll("the group is announced", lambda: "dead.example.com/v1" in discovery.discover(client.get).failed)
            found = discovery.discover(client.get)
        assert not found.answered("dead.example.com")
        assert found.find("batch", "jobs") is not None
        assert found.find("", "pods") == PODS
    finally:
        kube.request("DELETE", f"{services}/v1.dead.example.com")


def test_stopping_takes_less_than_a_second_over_tls(kube: Cluster) -> None:
    """Of some tries the best: a busy machine may hold up each of them, a stop that waits for the server holds up all."""
    took_s = []
    for _ in range(5):
        with watching(kube.kubeconfig(), Collection(PODS)) as watcher:
            poll("the watch is open", lambda own=watcher: own.of(tell.WatchStarted))
            started_s = time.monotonic()
            watcher.reflector.stop()
            watcher.thread.join(60.0)
            took_s.append(time.monotonic() - started_s)
    assert min(took_s) < 1.0
