"""Pods of other schedulers in the shadow."""

import msgspec

from scheduler_core.cache.mirror import Mirror
from scheduler_core.shadow.others import Others
from tests.support.object_records import node, pod


def seen(name="p-1", *, tried, cpu="1"):
    asking = [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]
    made = pod(name, scheduler="default-scheduler", notes={"a": "b"}, containers=asking)
    body = msgspec.json.decode(made.data.object)
    if tried:
        body["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
    made.data.object = msgspec.Raw(msgspec.json.encode(body))
    return made


def decided(*records):
    mirror = Mirror("c")
    for each in records:
        mirror.apply(each)
    return [(each.kind, each.task, each.reason, each.node) for each in Others()(mirror, 5000)]


def test_a_pod_that_fits_nowhere_is_explained():
    assert decided(node(), seen(tried=True, cpu="60")) == [("attribution", "ml/p-1", "insufficient_resource", None)]


def test_a_pod_that_was_refused_and_fits_now_has_a_place_somewhere():
    assert decided(node(), seen(tried=True)) == [("bind", "ml/p-1", None, None)]


def test_of_a_pod_that_nobody_looked_at_and_that_fits_nothing_is_said():
    assert decided(node(), seen(tried=False)) == []
