"""What the server says about itself, and about us: version, cluster, what we may do."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from pipeline.errors import Transient
from pipeline.kubeapi.resources import Resource

_REVIEWS = "/apis/authorization.k8s.io/v1"


class Api(Protocol):
    """The part of `client.Client` that is needed here."""

    def get_json(self, path: str) -> Any: ...

    def post_json(self, path: str, body: dict[str, Any]) -> Any: ...


class Verdict(msgspec.Struct, frozen=True):
    """Whether we may, and what the authorizer gave as its reason (often nothing)."""

    allowed: bool
    reason: str = ""


class Rule(msgspec.Struct, frozen=True, rename={"api_groups": "apiGroups", "resource_names": "resourceNames"}):
    """One rule that applies to us; `*` stands for everything."""

    verbs: list[str] = []
    api_groups: list[str] = []
    resources: list[str] = []
    resource_names: list[str] = []


def version(api: Api) -> str:
    """As the server spells it: `v1.37.2`. Raises what `api` raises."""
    return str(_at(api.get_json("/version"), "gitVersion"))


def cluster_uid(api: Api) -> str:
    """The uid of namespace `kube-system`: no two clusters share it. Raises what `api` raises (Refused if forbidden)."""
    return str(_at(api.get_json("/api/v1/namespaces/kube-system"), "metadata", "uid"))


def may(api: Api, verb: str, resource: Resource, namespace: str | None = None) -> Verdict:
    """Whether we may `verb` (get, list, watch, create …) `resource`, in one namespace or (None) in all of them."""
    asked = {"verb": verb, "group": resource.group, "version": resource.version, "resource": resource.plural}
    if namespace is not None and resource.namespaced:
        asked["namespace"] = namespace
    review = {
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "spec": {"resourceAttributes": asked},
    }
    status = _at(api.post_json(f"{_REVIEWS}/selfsubjectaccessreviews", review), "status")
    return Verdict(bool(status.get("allowed")), str(status.get("reason") or status.get("evaluationError") or ""))


def rules(api: Api, namespace: str = "default") -> list[Rule]:
    """Everything we may do in `namespace`, cluster-wide rules included; some authorizers list only a part."""
    review = {
        "kind": "SelfSubjectRulesReview",
        "apiVersion": "authorization.k8s.io/v1",
        "spec": {"namespace": namespace},
    }
    status = _at(api.post_json(f"{_REVIEWS}/selfsubjectrulesreviews", review), "status")
    return msgspec.convert(status.get("resourceRules") or [], list[Rule])


def _at(answer: Any, *path: str) -> Any:
    for key in path:
        if not isinstance(answer, dict) or key not in answer:
            raise Transient(f"the answer has no {'.'.join(path)}")
        answer = answer[key]
    return answer
