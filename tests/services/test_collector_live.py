"""The whole collector against a real API server, through a proxy where the way to it must break."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from collector.settings import ExtraKind, Spool
from pipeline.log import LogReader
from pipeline.records import codec
from pipeline.records.envelope import EventRecord, Record
from pipeline.records.objects import ObjectChange
from pipeline.telemetry.metrics import REGISTRY
from tests.support.cluster import Cluster, poll
from tests.support.collecting import QUICK, Collecting
from tests.support.proxy import Proxy

pytestmark = pytest.mark.services

SILENT_S = 3.0
IMPATIENT = msgspec.structs.replace(QUICK, silent_s=SILENT_S, list_read_timeout_s=SILENT_S)
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_numbers = itertools.count()


@pytest.fixture
def team(kube: Cluster) -> str:
    name = f"team-{next(_numbers)}"
    kube.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    return name


@pytest.fixture
def proxy(kube: Cluster) -> Iterator[Proxy]:
    with Proxy(kube.port) as running:
        yield running


def make_pod(kube: Cluster, team: str, *names: str) -> None:
    for name in names:
        spec = {"containers": [{"name": "main", "image": "registry.invalid/x:1"}]}
        kube.request("POST", f"/api/v1/namespaces/{team}/pods", {"metadata": {"name": name}, "spec": spec})


def delete_pod(kube: Cluster, team: str, name: str) -> None:
    now = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
    kube.request("DELETE", f"/api/v1/namespaces/{team}/pods/{name}", now)


def make_event(kube: Cluster, team: str, name: str, *, at: str = "2026-03-02T08:00:00Z", **more: Any) -> None:
    event = {
        "metadata": {"name": name},
        "involvedObject": {"kind": "Pod", "namespace": team, "name": "a"},
        "reason": "BackOff", "message": "said", "type": "Warning", "count": 1,
        "firstTimestamp": at, "lastTimestamp": at, **more,
    }  # fmt: skip
    kube.request("POST", f"/api/v1/namespaces/{team}/events", event)


def custom_kind(group: str, plural: str, kind: str, *served: str, namespaced: bool = True) -> Any:
    """A definition that takes any object; the last version is the stored one."""
    anything = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": name, "served": True, "storage": name == served[-1], "schema": anything} for name in served]
    names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    scope = "Namespaced" if namespaced else "Cluster"
    annotations = {"api-approved.kubernetes.io": "unapproved, a test"} if group.endswith("k8s.io") else {}
    return {
        "metadata": {"name": f"{plural}.{group}", "annotations": annotations},
        "spec": {"group": group, "scope": scope, "names": names, "versions": versions},
    }


def exists(kube: Cluster, path: str) -> bool:
    try:
        kube.request("GET", path)
    except OSError:
        return False
    return True


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def forbidden(kind: str) -> bool:
    """What the metric says."""
    return bool(REGISTRY.get_sample_value("kube_collector_watch_forbidden", {"kind": kind}))


def assert_nothing_twice(collecting: Collecting) -> None:
    ids = [record.id for record in collecting.records()]
    assert len(ids) == len(set(ids))


# The way to the server


def test_a_way_that_swallows_everything_is_found_and_nothing_is_missing_behind_it(
    kube: Cluster, team: str, proxy: Proxy, tmp_path: Path
) -> None:
    kubeconfig = proxy.kubeconfig(kube.kubeconfig())
    with Collecting(kubeconfig, tmp_path / "data", IMPATIENT, silent_after=SILENT_S) as collecting:
        poll("all kinds came", collecting.ready)
        proxy.swallow()
        make_pod(kube, team, "while-silent")
        poll("it is seen", lambda: _was_silent(collecting))
        poll("and told", lambda: not collecting.check("watch pods").ok)
        proxy.pass_on()
        poll("what came meanwhile", lambda: collecting.saw("Pod", "while-silent"))
        poll("all is well again", collecting.ready)
        ticks = collecting.ticks()
        assert max(after - before for before, after in itertools.pairwise(ticks)) == 1000, "log time never stood"
        assert_nothing_twice(collecting)


def _was_silent(collecting: Collecting) -> bool:
    """In the middle of its stream, or at the opening of the next."""
    pods = collecting.collector.progress()["pods"]
    return pods.silences > 0 or "nothing came in time" in pods.error


def test_a_balancer_that_keeps_our_leg_open_is_left_behind(
    kube: Cluster, team: str, proxy: Proxy, tmp_path: Path
) -> None:
    with Collecting(proxy.kubeconfig(kube.kubeconfig()), tmp_path / "data", IMPATIENT) as collecting:
        poll("all kinds came", collecting.ready)
        proxy.lose_upstream()
        make_pod(kube, team, "behind-the-balancer")
        poll("it comes over a new connection", lambda: collecting.saw("Pod", "behind-the-balancer"))
        assert_nothing_twice(collecting)


def test_resets_and_then_refusals_end_with_everything_known(
    kube: Cluster, team: str, proxy: Proxy, tmp_path: Path
) -> None:
    with Collecting(proxy.kubeconfig(kube.kubeconfig()), tmp_path / "data") as collecting:
        poll("all kinds came", collecting.ready)
        make_pod(kube, team, "before")
        poll("it came", lambda: collecting.saw("Pod", "before"))
        proxy.refuse()
        make_pod(kube, team, "while-away")
        delete_pod(kube, team, "before")
        poll("many tries failed", lambda: collecting.collector.progress()["pods"].retries >= 5)
        proxy.listen()
        poll("what came meanwhile", lambda: collecting.saw("Pod", "while-away"))
        poll("what went meanwhile", lambda: collecting.changes("Pod", "before")[-1].change == "deleted")
        poll("all is well", collecting.ready)
        assert collecting.gaps() == [], "a watch that goes on from its version has missed nothing"
        assert_nothing_twice(collecting)


def test_forty_watches_cut_again_and_again_leave_no_thread_and_no_socket(
    kube: Cluster, team: str, proxy: Proxy, tmp_path: Path
) -> None:
    many = [f"kind{n}s" for n in range(32)]
    for plural in many:
        kube.request("POST", CRDS, custom_kind("many.example.com", plural, plural.title(), "v1"))
    poll("all are served", lambda: all(exists(kube, f"/apis/many.example.com/v1/{each}") for each in many))
    extra = [ExtraKind(group="many.example.com", version="v1", plural=each, kind=each.title()) for each in many]
    with Collecting(proxy.kubeconfig(kube.kubeconfig()), tmp_path / "data", extra_kinds=extra) as collecting:
        poll("all kinds came", collecting.ready)
        watches = collecting.collector.progress()
        assert len(watches) >= 40

        def settled() -> bool:
            """A stream each, and perhaps a connection that is kept for the next question of what is served."""
            return len(watches) <= proxy.open <= len(watches) + 1

        poll("one stream each is open", settled)
        sockets, threads = open_files(), threading.active_count()
        for _ in range(15):
            opened = sum(each.watches for each in watches.values())
            proxy.cut()
            poll("all watch again", lambda: sum(each.watches for each in watches.values()) >= opened + len(watches))
        poll("one stream each is open", settled)
        poll("no more sockets than before are open", lambda: open_files() <= sockets + 4)
        poll("there are no more threads than before", lambda: threading.active_count() <= threads)
        make_pod(kube, team, "after-all-that")
        poll("it still listens", lambda: collecting.saw("Pod", "after-all-that"))
        assert collecting.gaps() == []


# Who we are and what we may


def test_a_rotated_token_leaves_open_watches_alone_and_a_refused_one_is_read_again(
    kube: Cluster, team: str, proxy: Proxy, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("admin-token\n")
    kubeconfig = proxy.kubeconfig(kube.kubeconfig("admin", auth={"tokenFile": str(token)}))
    with Collecting(kubeconfig, tmp_path / "data") as collecting:
        poll("all kinds are watched", collecting.streaming)
        watches = collecting.collector.progress()["pods"].watches
        token.write_text("expired-token\n")
        make_pod(kube, team, "old-stream")
        poll("open watches go on", lambda: collecting.saw("Pod", "old-stream"))
        assert collecting.collector.progress()["pods"].watches == watches
        proxy.cut()
        poll("the token is refused", lambda: "401" in collecting.collector.progress()["pods"].error)
        make_pod(kube, team, "while-refused")
        token.write_text("admin-token\n")
        poll("the next one is taken", lambda: collecting.saw("Pod", "while-refused"))
        poll("all is well", collecting.ready)
        assert collecting.gaps() == []
        assert_nothing_twice(collecting)


def test_a_token_that_is_refused_at_the_start_is_read_again_too(kube: Cluster, team: str, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_bytes(kube.kubeconfig("admin", auth={"token": "expired-token"}).read_bytes())
    make_pod(kube, team, "a")
    with Collecting(kubeconfig, tmp_path / "data") as collecting:
        poll("it is refused", lambda: "401" in collecting.check("cluster").detail)
        kubeconfig.write_bytes(kube.kubeconfig("admin").read_bytes())
        poll("the rewritten file is read", lambda: collecting.saw("Pod", "a"))


def test_one_kind_that_is_forbidden_is_named_while_the_others_come_and_comes_when_allowed(
    kube: Cluster, team: str, tmp_path: Path
) -> None:
    every = {
        "apiGroups": ["*"],
        "resources": ["nodes", "namespaces", "events", "jobs"],
        "verbs": ["get", "list", "watch"],
    }
    role = kube.allow("collector", [every], f"some-{team}")
    make_pod(kube, team, "a")
    make_event(kube, team, "e")
    with Collecting(kube.kubeconfig("collector"), tmp_path / "data") as collecting:
        poll("events come without pods", lambda: collecting.events(team))
        poll("what is refused is named", lambda: 'cannot list resource "pods"' in collecting.check("watch pods").detail)
        assert not collecting.check("watch pods").ok
        poll("the other kind is well", lambda: collecting.check("watch events.events.k8s.io").ok)
        poll("so says the metric", lambda: (forbidden("pods"), forbidden("events.events.k8s.io")) == (True, False))
        more = kube.allow(
            "collector", [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]}], f"more-{team}"
        )
        poll("pods come", lambda: collecting.saw("Pod", "a"))
        poll("and are well", lambda: collecting.check("watch pods").ok)
        poll("and the metric is clear", lambda: not forbidden("pods"))
    kube.forbid(role)
    kube.forbid(more)


# What is served


def test_a_dead_aggregated_api_is_named_and_the_others_come(kube: Cluster, team: str, tmp_path: Path) -> None:
    services = "/apis/apiregistration.k8s.io/v1/apiservices"
    spec = {"group": "dead.example.com", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 10}
    spec |= {"insecureSkipTLSVerify": True, "service": {"namespace": "default", "name": "nowhere"}}
    kube.request("POST", services, {"metadata": {"name": "v1.dead.example.com"}, "spec": spec})
    make_pod(kube, team, "a")
    extra = ExtraKind(group="dead.example.com", version="v1", plural="things", kind="Thing")
    try:
        with Collecting(kube.kubeconfig(), tmp_path / "data", extra_kinds=[extra]) as collecting:
            poll("pods come", lambda: collecting.saw("Pod", "a"))
            poll("it is named", lambda: collecting.check("watch things.dead.example.com"))
            check = collecting.check("watch things.dead.example.com")
            assert not check.ok
            assert "503" in check.detail
    finally:
        kube.request("DELETE", f"{services}/v1.dead.example.com")


def test_a_kind_that_goes_and_comes_back_in_another_version_is_followed(
    kube: Cluster, team: str, tmp_path: Path
) -> None:
    name = "workloads.kueue.x-k8s.io"

    def make(version: str, workload: str) -> None:
        body = {"apiVersion": f"kueue.x-k8s.io/{version}", "kind": "Workload", "metadata": {"name": workload},
                "spec": {"queueName": "q"}}  # fmt: skip
        path = f"/apis/kueue.x-k8s.io/{version}/namespaces/{team}/workloads"
        poll("it can be made", lambda: _made(kube, path, body))

    with Collecting(
        kube.kubeconfig(), tmp_path / "data", msgspec.structs.replace(QUICK, watch_timeout_s=3.0)
    ) as collecting:
        poll("all others came", collecting.ready)
        kube.request("POST", CRDS, custom_kind("kueue.x-k8s.io", "workloads", "Workload", "v1beta1"))
        make("v1beta1", "first")
        poll("a kind that comes later is found", lambda: collecting.saw("Workload", "first"))
        kube.request("DELETE", f"{CRDS}/{name}")
        poll("its end is told", lambda: collecting.changes("Workload", "first")[-1].change == "deleted")
        poll("it is gone", lambda: not exists(kube, f"{CRDS}/{name}"))
        poll("and known to be", lambda: collecting.collector.progress()[name].state == "not_served")
        assert collecting.check(f"watch {name}").ok, "what is not served is nobody's fault"
        kube.request("POST", CRDS, custom_kind("kueue.x-k8s.io", "workloads", "Workload", "v1beta2"))
        make("v1beta2", "second")
        poll("its new version is found", lambda: collecting.saw("Workload", "second"))
        assert_nothing_twice(collecting)
    kube.request("DELETE", f"{CRDS}/{name}")
    poll("it is gone", lambda: not exists(kube, f"{CRDS}/{name}"))


def _made(kube: Cluster, path: str, body: Any) -> bool:
    try:
        kube.request("POST", path, body)
    except OSError:
        return False
    return True


def test_an_object_that_cannot_be_read_is_kept_aside_and_its_end_is_told(
    kube: Cluster, team: str, tmp_path: Path
) -> None:
    kube.request("POST", CRDS, custom_kind("kueue.x-k8s.io", "workloads", "Workload", "v1beta2"))
    path = f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{team}/workloads"
    workload = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": "bad"}}
    poll("it can be made", lambda: _made(kube, path, {**workload, "spec": {"podSets": "not a list"}}))
    with Collecting(kube.kubeconfig(), tmp_path / "data") as collecting:
        watch = "watch workloads.kueue.x-k8s.io"
        poll("the list is done all the same", lambda: (found := collecting.check(watch)) is not None and found.ok)
        kube.request("POST", path, {**workload, "metadata": {"name": "good"}, "spec": {"queueName": "q"}})
        poll("the next object comes", lambda: collecting.saw("Workload", "good"))
        kube.patch(f"{path}/good", {"spec": 7})
        kube.request("DELETE", f"{path}/good")
        poll("its end is told", lambda: collecting.changes("Workload", "good")[-1].change == "deleted")
        letters, _ = collecting.collector._writing.spool.dead.read()
        assert {letter.values["kind"] for letter in letters} == {"workloads.kueue.x-k8s.io"}
        assert len(letters) == 3, letters
    kube.request("DELETE", f"{CRDS}/workloads.kueue.x-k8s.io")
    poll("it is gone", lambda: not exists(kube, f"{CRDS}/workloads.kueue.x-k8s.io"))


def test_an_event_as_large_as_etcd_takes_is_cut_by_rule_and_takes_nothing_down(
    kube: Cluster, team: str, tmp_path: Path
) -> None:
    with Collecting(kube.kubeconfig(), tmp_path / "data") as collecting:
        poll("all kinds came", collecting.ready)
        make_event(kube, team, "huge", message="x" * 1_400_000)
        make_event(kube, team, "next")
        poll("both came", lambda: {event.name for event in collecting.events(team)} == {"huge", "next"})
        huge = collecting.events(team)[0]
        assert huge.truncated
        assert len(huge.message) < 100_000
        assert collecting.collector.progress()["events.events.k8s.io"].watches == 1


# Events, gaps, restarts


def test_counts_that_grow_over_a_restart_are_a_record_each_and_expiry_is_no_news(
    kube: Cluster, team: str, tmp_path: Path
) -> None:
    path = f"/api/v1/namespaces/{team}/events"
    make_event(kube, team, "repeats", at="2020-01-01T00:00:00Z")
    with Collecting(kube.kubeconfig(), tmp_path / "data") as collecting:

        def counts() -> list[int]:
            return [event.count for event in collecting.events(team) if event.name == "repeats"]

        poll("an event of years ago is no less an event", lambda: counts() == [1])
        kube.patch(f"{path}/repeats", {"count": 2})
        poll("it was repeated", lambda: counts() == [1, 2])
        collecting.collector.stop(20.0)
        kube.patch(f"{path}/repeats", {"count": 7})
        make_event(kube, team, "while-down")
        collecting.restart()
        poll("what was said meanwhile", lambda: counts() == [1, 2, 7])
        poll("and by others", lambda: len(collecting.events(team)) == 4)
        kube.request("DELETE", f"{path}/repeats")
        make_event(kube, team, "afterwards")
        poll("the stream goes on", lambda: len(collecting.events(team)) == 5)
        assert_nothing_twice(collecting)


def test_what_was_deleted_inside_a_gap_is_told_as_synthetic_with_one_gap_a_kind(
    kube: Cluster, team: str, proxy: Proxy, tmp_path: Path
) -> None:
    make_pod(kube, team, "stays", "goes", "changes")
    with Collecting(proxy.kubeconfig(kube.kubeconfig()), tmp_path / "data") as collecting:
        poll("all kinds came", collecting.ready)
        proxy.refuse()
        delete_pod(kube, team, "goes")
        kube.patch(f"/api/v1/namespaces/{team}/pods/changes", {"metadata": {"labels": {"a": "b"}}})
        make_pod(kube, team, "comes")
        kube.restart_api()  # its memory of versions begins anew
        proxy.listen()
        poll("the gap is told", lambda: any(gap.data.kind == "Pod" for gap in collecting.gaps()))
        poll("the end is told", lambda: collecting.changes("Pod", "goes")[-1].change == "deleted")
        last = {name: collecting.changes("Pod", name)[-1] for name in ("stays", "goes", "changes", "comes")}
        assert {name: (c.change, c.synthetic) for name, c in last.items()} == {
            "stays": ("added", False), "goes": ("deleted", True), "changes": ("modified", True), "comes": ("added", True),
        }  # fmt: skip
        (gap,) = [gap.data for gap in collecting.gaps() if gap.data.kind == "Pod"]
        assert gap.changed == 3
        assert gap.from_version != gap.to_version
        assert last["goes"].unseen_since == gap.from_ms
        assert_nothing_twice(collecting)


def test_an_etcd_that_was_restored_from_an_older_copy_is_the_truth(kube: Cluster, team: str, tmp_path: Path) -> None:
    """Versions go backwards: what is known is corrected by a list, and nothing is too old to be believed."""
    make_pod(kube, team, "lasts", "differs", "revives")
    make_event(kube, team, "said-before")
    with Collecting(kube.kubeconfig(), tmp_path / "data") as collecting:
        poll("all is known", lambda: collecting.saw("Pod", "revives") and collecting.ready())
        kube.copy_etcd(tmp_path / "older")
        make_pod(kube, team, "both-times")
        poll("it goes on", lambda: collecting.saw("Pod", "both-times"))
        for number in range(300):  # more than a server that starts could write before we have asked it
            kube.store("kube-collector-tests/moves", number)
        kube.patch(f"/api/v1/namespaces/{team}/pods/differs", {"metadata": {"labels": {"a": "b"}}})
        make_event(kube, team, "said-in-vain")
        make_pod(kube, team, "too-new")
        delete_pod(kube, team, "revives")
        poll(
            "all that came",
            lambda: _last(collecting, "revives").change == "deleted" and len(collecting.events(team)) == 2,
        )
        gaps = len(collecting.gaps())
        kube.restore_etcd(tmp_path / "older")
        make_pod(kube, team, "afterwards")
        poll("what was made since is gone", lambda: _last(collecting, "too-new").change == "deleted", 240)
        poll("what was deleted since is there", lambda: _last(collecting, "revives").change == "added")
        poll("it goes on", lambda: collecting.saw("Pod", "afterwards") and collecting.ready())

        first, newer, again = collecting.changes("Pod", "differs")
        assert (again.change, again.synthetic, again.version) == ("modified", True, first.version)
        assert int(again.version) < int(newer.version)
        assert _last(collecting, "too-new").synthetic
        assert _last(collecting, "revives").synthetic
        assert [change.change for change in collecting.changes("Pod", "lasts")] == ["added"]
        (gap,) = [gap.data for gap in collecting.gaps()[gaps:] if gap.data.kind == "Pod"]
        assert gap.why == "too_large"
        assert int(gap.to_version) < int(gap.from_version)
        assert gap.changed >= 4, "too-new, revives, differs, both-times"
        assert_nothing_twice(collecting)


def _last(collecting: Collecting, name: str) -> ObjectChange:
    return collecting.changes("Pod", name)[-1]


def test_restarts_write_nothing_again_and_two_collectors_say_the_same(kube: Cluster, team: str, tmp_path: Path) -> None:
    make_pod(kube, team, "a", "b")
    make_event(kube, team, "e")
    with Collecting(kube.kubeconfig(), tmp_path / "one") as one, Collecting(kube.kubeconfig(), tmp_path / "two") as two:
        made = {f"Namespace//{team}", f"Pod/{team}/a", f"Pod/{team}/b", f"Event/{team}/e"}

        def own(collecting: Collecting) -> list[Record]:
            return [record for record in collecting.records() if team in record.subject.split("/")]

        def said(collecting: Collecting) -> list[str]:
            return [record.id for record in own(collecting) if "@" not in record.id]

        for each in (one, two):
            poll("all came", lambda collecting=each: {record.subject for record in own(collecting)} >= made)
            poll("and is well", each.ready)
        first = said(one)
        for _ in range(3):
            one.restart()
            poll("all kinds came", one.ready)
        assert said(one) == first
        assert_nothing_twice(one)
        assert sorted(said(two)) == sorted(first), "a store drops what a second collector says"


def test_a_full_log_stops_the_reading_and_nothing_is_lost_when_there_is_room_again(
    kube: Cluster, team: str, tmp_path: Path
) -> None:
    limits = Spool(segment_bytes=64 << 10, max_bytes=256 << 10, min_free_bytes=0)
    names = [f"fills-{n}" for n in range(30)]
    with Collecting(kube.kubeconfig(), tmp_path / "data", spool=limits) as collecting:
        reader = LogReader(collecting.places.records, "aggregation")
        reader.read(1)
        reader.ack(reader.position)
        poll("all kinds came", collecting.ready)
        for name in names:
            make_event(kube, team, name, message="x" * 20_000)
        poll("the log is full", lambda: not collecting.check("spool").ok)
        assert "at its limit of 262144 bytes" in collecting.check("spool").detail
        found: list[str] = []
        while not {*names} <= {*found}:
            for entry in reader.read().entries:
                record = codec.decode(entry.line)
                if isinstance(record, EventRecord) and record.data.namespace == team:
                    found.append(record.data.name)
            reader.ack(reader.position)
            reader.wait(0.2)
        assert sorted(found) == sorted(names), "all of them, each once"
        poll("and it takes records again", collecting.ready)
        reader.close()
