from __future__ import annotations

import json
from typing import Any

from pipeline.kubeapi import resources
from pipeline.kubeapi.resources import Collection, Discovery, GroupVersion, Resource

PODS = Resource("", "v1", "pods", "Pod")
NODES = Resource("", "v1", "nodes", "Node", namespaced=False)
GROUPS = Resource("scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup")


def encode(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_paths_of_core_and_named_groups() -> None:
    assert PODS.path() == "/api/v1/pods"
    assert PODS.path("team-a") == "/api/v1/namespaces/team-a/pods"
    assert GROUPS.path() == "/apis/scheduling.k8s.io/v1beta1/podgroups"
    assert (PODS.name, GROUPS.name) == ("pods", "podgroups.scheduling.k8s.io")
    assert (PODS.api_version, GROUPS.api_version) == ("v1", "scheduling.k8s.io/v1beta1")


def test_a_kind_without_namespaces_has_one_path() -> None:
    assert NODES.path("team-a") == "/api/v1/nodes"


def test_a_collection_sends_only_the_selectors_it_has() -> None:
    assert Collection(PODS).query == {}
    assert Collection(PODS, "team-a", "app=x").query == {"labelSelector": "app=x"}
    assert Collection(PODS, "team-a").path == "/api/v1/namespaces/team-a/pods"


def test_groups_come_with_their_preferred_version_first() -> None:
    versions = [{"groupVersion": "a/v1", "version": "v1"}, {"groupVersion": "a/v2", "version": "v2"}]
    body = encode(
        {
            "groups": [
                {"name": "a", "versions": versions, "preferredVersion": versions[1]},
                {"name": "b", "versions": versions[:1]},
            ]
        }
    )
    assert resources.group_versions(body) == [GroupVersion("a", "v2"), GroupVersion("a", "v1"), GroupVersion("b", "v1")]
    assert resources.group_versions(b'{"groups":null}') == []
    assert resources.core_versions(b'{"versions":["v1"]}') == [GroupVersion("", "v1")]


def test_only_what_can_be_listed_and_watched_is_a_resource() -> None:
    listed = [
        {"name": "pods", "kind": "Pod", "namespaced": True, "verbs": ["get", "list", "watch"]},
        {"name": "pods/status", "kind": "Pod", "namespaced": True, "verbs": ["get", "list", "watch"]},
        {"name": "bindings", "kind": "Binding", "namespaced": True, "verbs": ["create"]},
        {"name": "nodes", "kind": "Node", "namespaced": False, "verbs": ["list", "watch"]},
    ]
    assert resources.watchable(encode({"resources": listed}), GroupVersion("", "v1")) == [PODS, NODES]
    assert resources.watchable(b'{"resources":null}', GroupVersion("", "v1")) == []


def test_the_wanted_versions_come_before_the_servers_preference() -> None:
    older = Resource("scheduling.k8s.io", "v1alpha3", "podgroups", "PodGroup")
    found = Discovery([PODS, GROUPS, older])
    assert found.find("scheduling.k8s.io", "podgroups") == GROUPS
    assert found.find("scheduling.k8s.io", "podgroups", ["v1", "v1alpha3", "v1beta1"]) == older
    assert found.find("scheduling.k8s.io", "podgroups", ["v1"]) is None
    assert found.find("", "podgroups") is None


def test_a_group_that_did_not_answer_proves_nothing_by_its_absence() -> None:
    found = Discovery([PODS], {"metrics.k8s.io/v1beta1": "503"})
    assert found.answered("")
    assert found.answered("batch")
    assert not found.answered("metrics.k8s.io")
