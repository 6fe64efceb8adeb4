"""Absence is evidence only after a list: a pod whose group's kind is not to be seen says so."""

import json

import pytest

from collector.kinds.catalog.kinds import KINDS
from collector.kinds.mirror import Mirror, MirrorOptions

GROUPS = "podgroups.scheduling.volcano.sh"


def pod():
    meta = {
        "name": "a",
        "namespace": "n",
        "uid": "p",
        "resourceVersion": "5",
        "annotations": {"scheduling.k8s.io/group-name": "g"},
    }
    return json.dumps({"metadata": meta, "spec": {}, "status": {"phase": "Pending"}}).encode()


@pytest.mark.parametrize("listed", [True, False])
def test_a_pod_says_whether_the_kind_of_its_group_is_listed(listed):
    mirror = Mirror("c", "test", MirrorOptions())
    for kind in KINDS:
        if kind.name not in ("pods", GROUPS):
            mirror.kind_absent(kind.name, 0)
    if listed:
        mirror.list_begin(GROUPS, 0)
        mirror.list_end(GROUPS, "1", 0, None)
    else:
        mirror.kind_absent(GROUPS, 0)
    (record,) = mirror.frame("pods", "ADDED", pod(), 10)
    assert record.data.job.uid == "name:n/g"
    assert record.data.group_unseen is not listed
