"""The commands around a live cluster: the printed role is enough and no more, `doctor` names what is wrong, a recording
of a cluster plays as the cluster was."""

from __future__ import annotations

import itertools
import json
import os
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from aggregation import topology
from collector.replay import runs
from collector.replay.recorder import Recorder
from collector.spool import survey
from collector.spool.spool import Spool
from pipeline.config.places import Places
from pipeline.log import LogOptions
from pipeline.records.envelope import ObjectRecord, TickRecord
from tests.support import replayed
from tests.support.cluster import Cluster, free_port, poll
from tests.support.collecting import Collecting
from tests.support.commands import run
from tests.support.replayed import Logged

pytestmark = pytest.mark.services

RBAC = "/apis/rbac.authorization.k8s.io/v1"


@pytest.fixture
def account(kube: Cluster) -> Iterator[Path]:
    """A kubeconfig of the service account to which the role that `rbac` prints is bound, applied as it is printed."""
    code, printed = run("rbac")
    assert code == 0
    role, binding = yaml.safe_load_all(printed)
    assert not exists(kube, f"{RBAC}/clusterroles/kube-collector")
    namespace = "/api/v1/namespaces/kube-collector"
    if not exists(kube, namespace):
        kube.request("POST", "/api/v1/namespaces", {"metadata": {"name": "kube-collector"}})
        kube.request("POST", f"{namespace}/serviceaccounts", {"metadata": {"name": "kube-collector"}})
    kube.request("POST", f"{RBAC}/clusterroles", role)
    kube.request("POST", f"{RBAC}/clusterrolebindings", binding)
    user = "system:serviceaccount:kube-collector:kube-collector"
    poll("the role holds", lambda: kube.may(user, role["rules"][0]))
    asked = {"spec": {"expirationSeconds": 3600}}
    token = kube.request("POST", f"{namespace}/serviceaccounts/kube-collector/token", asked)["status"]["token"]
    yield kube.kubeconfig("account", auth={"token": token})
    kube.request("DELETE", f"{RBAC}/clusterrolebindings/kube-collector")
    kube.request("DELETE", f"{RBAC}/clusterroles/kube-collector")
    poll("the role holds no more", lambda: not kube.may(user, role["rules"][0]))


def exists(kube: Cluster, path: str) -> bool:
    try:
        kube.request("GET", path)
    except OSError:
        return False
    return True


def make_pod(kube: Cluster, team: str, name: str, **labels: str) -> None:
    spec = {"containers": [{"name": "main", "image": "registry.invalid/x:1"}]}
    kube.request(
        "POST", f"/api/v1/namespaces/{team}/pods", {"metadata": {"name": name, "labels": labels}, "spec": spec}
    )


def make_team(kube: Cluster, name: str) -> str:
    kube.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    return name


def doctor(kubeconfig: Path, data: Path, *more: str) -> dict[str, dict[str, Any]]:
    """Its findings about the cluster, by name."""
    _, said = run("doctor", "cluster", "-o", "json", "--set", f"collector.kubeconfig={kubeconfig}",
                  "--set", f"data_dir={data}", *more)  # fmt: skip
    found, _ = json.JSONDecoder().raw_decode(said)
    return {each["name"]: each for each in found}


def outcomes(found: dict[str, dict[str, Any]]) -> set[str]:
    return {each["outcome"] for each in found.values()}


# Rights


def test_the_printed_role_is_enough_for_every_kind_and_for_who_the_cluster_is(
    kube: Cluster, account: Path, tmp_path: Path
) -> None:
    assert outcomes(doctor(account, tmp_path / "data")) == {"ok"}
    with Collecting(account, tmp_path / "data") as collecting:
        poll("all kinds came", collecting.ready)
        served = collecting.collector.progress()
        assert {"nodes", "pods", "jobs.batch", "events.events.k8s.io", "namespaces"} <= served.keys()
        assert {each.lists for each in served.values()} == {1}
    assert [each.uid for each in survey.clusters(Places(tmp_path / "data").collector_db)] == [
        kube.request("GET", "/api/v1/namespaces/kube-system")["metadata"]["uid"]
    ]


def test_no_kind_of_the_printed_role_could_be_left_out(kube: Cluster, account: Path, tmp_path: Path) -> None:
    role = kube.request("GET", f"{RBAC}/clusterroles/kube-collector")
    with Collecting(account, tmp_path / "all") as collecting:
        poll("all kinds came", collecting.ready)
        watched = collecting.collector.progress().keys()
    for rule in role["rules"]:
        assert "*" not in str(rule)
        assert "secrets" not in rule["resources"]
        rule["resources"] = [each for each in rule["resources"] if each == "namespaces"]
    role["rules"] = [rule for rule in role["rules"] if rule["resources"]]
    kube.request("PUT", f"{RBAC}/clusterroles/kube-collector", role)
    found: dict[str, Any] = {}

    def refused() -> set[str]:
        found.update(doctor(account, tmp_path / "none"))
        return {name for name, each in found.items() if each["outcome"] == "fail"}

    poll("every kind but namespaces is named", lambda: refused() >= watched - {"namespaces"})
    assert found["pods"]["cause"] == "may not list and watch"
    assert found["pods"]["fix"] == "Apply `kube-collector rbac`, or disable the kind."
    assert found["namespaces"]["outcome"] == "ok"


# Doctor


def test_a_good_cluster_is_said_to_be_good(kube: Cluster, tmp_path: Path) -> None:
    found = doctor(kube.kubeconfig("admin"), tmp_path / "data")
    assert outcomes(found) == {"ok"}
    assert found["answers"]["cause"].startswith(f"{kube.url} runs v1.")
    assert found["identity"]["cause"].startswith("default is kube-system ")
    assert found["pods"]["cause"] == "may be listed and watched"
    assert found["queues.scheduling.volcano.sh"]["cause"] == "not served here, not watched"


def test_each_bad_way_to_a_cluster_has_its_own_advice(kube: Cluster, tmp_path: Path) -> None:
    nobody = doctor(kube.kubeconfig("nobody"), tmp_path / "data")
    assert nobody["answers"]["outcome"] == "ok"
    assert (nobody["identity"]["outcome"], nobody["pods"]["outcome"]) == ("warn", "fail")
    assert "kube-collector rbac" in nobody["identity"]["fix"]
    assert "kube-collector rbac" in nobody["pods"]["fix"]

    refused = doctor(kube.kubeconfig("admin", auth={"token": "expired"}), tmp_path / "data")["answers"]
    assert "401 Unauthorized" in refused["cause"]
    assert "renew the token" in refused["fix"]

    away = tmp_path / "away.kubeconfig"
    away.write_text(kube.kubeconfig("admin").read_text().replace(str(kube.port), str(free_port())))
    nowhere = doctor(away, tmp_path / "data")["answers"]
    assert "Connection refused" in nowhere["cause"]
    assert "address in the kubeconfig" in nowhere["fix"]

    missing = doctor(tmp_path / "missing", tmp_path / "data")["credentials"]
    assert missing["cause"] == f"{tmp_path / 'missing'}: there is no such file"
    assert "--kubeconfig" in missing["fix"]


def test_a_name_that_another_cluster_took_is_found_before_the_start(kube: Cluster, tmp_path: Path) -> None:
    with Spool(Places(tmp_path), options=LogOptions(cluster="prod", min_free_bytes=0)) as spool:
        spool.checkpoint.claim("uid-of-another")
    found = doctor(kube.kubeconfig("admin"), tmp_path, "--set", "cluster.name=prod")["identity"]
    assert found["outcome"] == "fail"
    assert "'prod' belongs to another cluster" in found["cause"]
    assert doctor(kube.kubeconfig("admin"), tmp_path, "--set", "cluster.name=other")["identity"]["outcome"] == "ok"


# Recordings


def test_a_recording_of_a_cluster_plays_the_same_jobs_and_the_same_waits(
    kube: Cluster, account: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = make_team(kube, "recorded")
    make_pod(kube, team, "before")
    made_s = int(time.time())
    poll("its second is over", lambda: time.time() >= made_s + 1)  # or whoever looks first sees an earlier start
    heard: list[str] = []

    class Listening(Recorder):
        def take(self, watch: str, happening: Any) -> None:
            super().take(watch, happening)
            heard.append(f"{watch} {type(happening).__name__} {getattr(happening, 'frames', '')}")

    monkeypatch.setattr(runs, "Recorder", Listening)

    def recorded(*words: str) -> bool:
        return any(all(word in each for word in words) for each in list(heard))

    def scenario(live: Collecting) -> None:
        poll("it is recorded", lambda: recorded("pods WatchStarted"))
        for name in ("first", "second", "third"):
            make_pod(kube, team, name)
        for name in ("before", "first", "third"):
            bind(kube, team, name)
            poll("it has a node", lambda: len(live.changes("Pod", name)) == 2)
        kube.request("DELETE", f"/api/v1/namespaces/{team}/pods/second", {"gracePeriodSeconds": 0})
        poll("its end came", lambda: live.changes("Pod", "second")[-1].change == "deleted")
        poll("and is recorded", lambda: recorded("pods Frames", "DELETED", "second"))

    with Collecting(account, tmp_path / "live") as live:
        poll("all kinds came", live.ready)
        acting = Acting(scenario, live)
        acting.start()
        code, said = run("record", str(tmp_path / "recording"), "--kubeconfig", str(account))
        acting.join(60.0)
    assert acting.failure is None
    assert code == 0, "Ctrl-C is the ordinary end of it"
    assert f" lines in {tmp_path / 'recording'}" in said

    assert_same_waits(team, live_log(live), list(replayed.log_of(tmp_path / "recording")))
    assert json.loads((tmp_path / "recording" / "manifest.json").read_text())["recorded"]


def assert_same_waits(team: str, *logs: list[Logged]) -> None:
    """Of the scenario's four pods, in the log of the cluster and in that of the recording."""
    truth, played = (waits(log, team) for log in logs)
    seen, heard_again = (arrivals(log, team) for log in logs)
    assert set(truth) == {"before", "first", "second", "third"}
    assert played.keys() == truth.keys()
    for name, row in truth.items():
        again = played[name]
        same = ("phase", "cause", "job_kind", "job_uid", "minimum", "tasks")
        assert {key: again[key] for key in same} == {key: row[key] for key in same}, name
        # Two watchers see one frame at two moments, and within the second that the object names its arrival counts.
        apart = [abs(one - other) for one, other in zip(seen[name], heard_again[name], strict=True)]
        begin_apart = 0 if name == "before" else apart[0]  # seen when its second was over
        assert abs(again["started_at"] - row["started_at"]) <= begin_apart, name
        assert abs((again["wait_ms"] or 0) - (row["wait_ms"] or 0)) <= begin_apart + max(apart[1:]), name
    assert {name: row["phase"] for name, row in played.items()} == {
        "before": "scheduled", "first": "scheduled", "third": "scheduled", "second": "cancelled",
    }  # fmt: skip


class Acting(threading.Thread):
    """What happens to the cluster while this process records it; ends the recording as Ctrl-C does."""

    def __init__(self, scenario: Callable[[Collecting], None], live: Collecting) -> None:
        super().__init__()
        self._scenario, self._live = scenario, live
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            self._scenario(self._live)
        except BaseException as failure:  # told by the test, when the recording has ended
            self.failure = failure
        finally:
            os.kill(os.getpid(), signal.SIGINT)


def bind(kube: Cluster, team: str, name: str) -> None:
    """As a scheduler does; the server itself then says PodScheduled."""
    body = {"metadata": {"name": name}, "target": {"apiVersion": "v1", "kind": "Node", "name": "node-1"}}
    kube.request("POST", f"/api/v1/namespaces/{team}/pods/{name}/binding", body)


def live_log(live: Collecting) -> list[Logged]:
    records = live.all_records()
    stamps = itertools.accumulate((record.observedms for record in records), max)
    return [
        Logged(stamp, None if isinstance(record, TickRecord) else record)
        for stamp, record in zip(stamps, records, strict=True)
    ]


def arrivals(log: list[Logged], team: str) -> dict[str, list[int]]:
    """When each state of each pod of a namespace was seen, by the pod's name."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for change, seen_ms in [(each.data, each.observedms) for _, each in log if isinstance(each, ObjectRecord)]:
        if (change.kind, change.namespace) == ("Pod", team) and change.change != "facts":
            found[change.name].append(seen_ms)
    return found


def waits(log: list[Logged], team: str) -> dict[str, dict[str, Any]]:
    """The waits of a namespace's jobs, by name; each has one."""
    later = Logged(log[-1].stamp + 5000, None)  # rows of a second go out when it is over
    judged = replayed.judge([*log, later], "test", topology.Options())
    assert judged.failures == []
    rows = [row for row in judged.tables["job_wait"].values() if row["namespace"] == team]
    assert {row["episode"] for row in rows} == {1}
    return {row["job_name"]: row for row in rows}
