from __future__ import annotations

import json
from typing import Any

import pytest

from pipeline.errors import Transient
from pipeline.kubeapi import discovery, server
from pipeline.kubeapi.resources import Resource
from pipeline.kubeapi.server import Rule, Verdict
from tests.support.scripted_transport import refused

PODS = {"name": "pods", "kind": "Pod", "namespaced": True, "verbs": ["list", "watch"]}
JOBS = {"name": "jobs", "kind": "Job", "namespaced": True, "verbs": ["list", "watch"]}


def groups(*names: str) -> dict[str, Any]:
    return {
        "groups": [
            {"name": name, "versions": [{"version": "v1"}], "preferredVersion": {"version": "v1"}} for name in names
        ]
    }


class Answers:
    """`get` and `json` from a table; what is not in it fails."""

    def __init__(self, **paths: Any) -> None:
        self.asked: list[str] = []
        self.posted: list[tuple[str, dict[str, Any]]] = []
        self._paths = {
            "/api": {"versions": ["v1"]},
            "/apis": groups("batch", "metrics.k8s.io"),
            "/api/v1": {"resources": [PODS]},
            "/apis/batch/v1": {"resources": [JOBS]},
            **paths,
        }

    def get(self, path: str) -> bytes:
        self.asked.append(path)
        if path not in self._paths:
            raise refused(503, "ServiceUnavailable", "the server is currently unable to handle the request")
        found = self._paths[path]
        return found if isinstance(found, bytes) else json.dumps(found).encode()

    def get_json(self, path: str) -> Any:
        return json.loads(self.get(path))

    def post_json(self, path: str, body: dict[str, Any]) -> Any:
        self.posted.append((path, body))
        return self._paths[path]


def test_a_dead_aggregated_api_is_named_and_the_rest_is_used() -> None:
    found = discovery.discover(Answers().get)
    assert [each.name for each in found.resources] == ["pods", "jobs.batch"]
    assert list(found.failed) == ["metrics.k8s.io/v1"]
    assert "unable to handle" in found.failed["metrics.k8s.io/v1"]


def test_a_group_that_answers_nonsense_is_named_too() -> None:
    found = discovery.discover(Answers(**{"/apis/metrics.k8s.io/v1": b"<html>"}).get)
    assert list(found.failed) == ["metrics.k8s.io/v1"]
    assert len(found.resources) == 2


def test_only_the_groups_that_matter_are_asked() -> None:
    answers = Answers()
    found = discovery.discover(answers.get, {"batch"})
    assert answers.asked == ["/api", "/apis", "/apis/batch/v1"]
    assert (len(found.resources), found.failed) == (1, {})


@pytest.mark.parametrize("body", [b"<html>", b"[]"])
def test_a_server_that_cannot_list_its_groups_is_worth_another_try(body: bytes) -> None:
    with pytest.raises(Transient):
        discovery.discover(Answers(**{"/apis": body}).get)


def test_version_and_cluster_are_read_from_their_places() -> None:
    paths = {"/version": {"gitVersion": "v1.37.2"}, "/api/v1/namespaces/kube-system": {"metadata": {"uid": "u-1"}}}
    answers = Answers(**paths)
    assert server.version(answers) == "v1.37.2"
    assert server.cluster_uid(answers) == "u-1"
    with pytest.raises(Transient, match=r"metadata\.uid"):
        server.cluster_uid(Answers(**{"/api/v1/namespaces/kube-system": {"metadata": {}}}))


def test_a_review_asks_for_one_verb_and_the_namespace_only_where_there_is_one() -> None:
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    answers = Answers(**{path: {"status": {"allowed": False, "reason": "no role"}}})
    assert server.may(answers, "watch", Resource("batch", "v1", "jobs", "Job"), "team-a") == Verdict(False, "no role")
    server.may(answers, "list", Resource("", "v1", "nodes", "Node", namespaced=False), "team-a")
    asked = [body["spec"]["resourceAttributes"] for _, body in answers.posted]
    assert asked == [
        {"verb": "watch", "group": "batch", "version": "v1", "resource": "jobs", "namespace": "team-a"},
        {"verb": "list", "group": "", "version": "v1", "resource": "nodes"},
    ]


def test_rules_may_be_none() -> None:
    path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
    rule = {"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}
    assert server.rules(Answers(**{path: {"status": {"resourceRules": [rule]}}})) == [Rule(["list"], [""], ["pods"])]
    assert server.rules(Answers(**{path: {"status": {"resourceRules": None}}})) == []
