"""The least role that a configuration needs, and whether the cluster grants it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import yaml

from collector import app
from collector.kinds.base import Kind
from collector.settings import Settings
from collector.spool import survey
from pipeline.cli.checks import CheckResult
from pipeline.config.load import Loaded
from pipeline.config.places import Places
from pipeline.errors import KubeCollectorError, UserError
from pipeline.kubeapi import discovery, server, transport
from pipeline.kubeapi.client import Client
from pipeline.kubeapi.credentials import Credentials
from pipeline.kubeapi.resources import Discovery

_IDENTITY = {
    "apiGroups": [""], "resources": ["namespaces"], "resourceNames": ["kube-system"], "verbs": ["get"],
}  # fmt: skip
"""Its uid tells clusters apart: a name that another one took is refused."""


def role(kinds: Iterable[Kind], *, name: str = "kube-collector", service_account: str, namespace: str) -> str:
    """A ClusterRole and its binding as YAML: list and watch of exactly these kinds; no `*`, no secrets."""
    by_group: defaultdict[str, list[str]] = defaultdict(list)
    for kind in kinds:
        by_group[kind.group].append(kind.plural)
    rules: list[dict[str, list[str]]] = [
        {"apiGroups": [group], "resources": sorted(set(plurals)), "verbs": ["list", "watch"]}
        for group, plurals in sorted(by_group.items())
    ]
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    subject = {"kind": "ServiceAccount", "name": service_account, "namespace": namespace}
    documents = [
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
            "rules": [*rules, _IDENTITY],
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": reference,
            "subjects": [subject],
        },
    ]
    return str(yaml.safe_dump_all(documents, sort_keys=False))


def check(loaded: Loaded) -> list[CheckResult]:
    """For `doctor`: the cluster answers, and every wanted kind that it serves may be listed and watched."""
    settings = loaded.of(Settings)
    if settings.replay is not None:
        return [CheckResult("cluster", "recording", "ok", str(settings.replay))]
    try:
        client = Client(Credentials(settings.kubeconfig, settings.context))
    except UserError as error:
        cause = f"{error.where}: {error.what}" if error.where else error.what
        return [CheckResult("cluster", "credentials", "fail", cause, error.fix or "Name a kubeconfig.")]
    try:
        version = server.version(client)
        found = discovery.discover(client.get, {kind.group for kind in app.kinds(settings)})
    except KubeCollectorError as error:
        return [CheckResult("cluster", "answers", "fail", f"{client.host}: {error}", _fix_of(error))]
    results = [CheckResult("cluster", "answers", "ok", f"{client.host} runs {version}"), _identity(client, loaded)]
    results += [
        CheckResult("cluster", f"group {group}", "warn", error, "Its kinds are watched when it answers again.")
        for group, error in found.failed.items()
    ]
    return results + [_may(client, found, kind) for kind in app.kinds(settings)]


def _fix_of(error: KubeCollectorError) -> str:
    """What to do about a server that does not answer, or not to us."""
    if isinstance(error, transport.Untrusted):
        return "Put the certificate of the cluster's authority into the kubeconfig."
    if isinstance(error, transport.Refused):
        return "The server does not know who we are: renew the token or the certificate in the kubeconfig."
    return "Check the address in the kubeconfig, and that this host may reach it."


def _identity(client: Client, loaded: Loaded) -> CheckResult:
    """Whether the cluster tells who it is, and whether its name is its own in this spool."""
    name = loaded.ground.cluster.name
    try:
        uid = server.cluster_uid(client)
    except KubeCollectorError as error:
        fix = "Apply `kube-collector rbac`; without it nobody notices a name that another cluster took."
        return CheckResult("cluster", "identity", "warn", str(error), fix)
    known = survey.clusters(Places(loaded.ground.data_dir).collector_db)
    taken = next((each.uid for each in known if each.name == name and each.uid not in (None, uid)), None)
    if taken:
        cause = f"the name {name!r} belongs to another cluster (kube-system {taken}, this one has {uid})"
        return CheckResult("cluster", "identity", "fail", cause, "Give this cluster a name or a data_dir of its own.")
    return CheckResult("cluster", "identity", "ok", f"{name} is kube-system {uid}")


def _may(client: Client, found: Discovery, kind: Kind) -> CheckResult:
    resource = found.find(kind.group, kind.plural, kind.versions)
    if resource is None:
        return CheckResult("cluster", kind.name, "ok", "not served here, not watched")
    try:
        refused = [verb for verb in ("list", "watch") if not server.may(client, verb, resource).allowed]
    except KubeCollectorError as error:
        return CheckResult("cluster", kind.name, "warn", str(error), "The right to ask for one's rights is missing.")
    if refused:
        cause = f"may not {' and '.join(refused)}"
        return CheckResult("cluster", kind.name, "fail", cause, "Apply `kube-collector rbac`, or disable the kind.")
    return CheckResult("cluster", kind.name, "ok", "may be listed and watched")
