"""Events: their times and counts, and whose they are."""

import pytest

from collector.kinds.catalog import core_event
from collector.kinds.catalog import event as new_event
from collector.kinds.events import read
from collector.kinds.projection import Arrival
from pipeline.errors import Terminal
from pipeline.records import codec, times
from pipeline.records.envelope import GapRecord
from pipeline.records.jobs import bucket_of
from tests.support import mirrored
from tests.support.mirrored import EVENTS, GROUPS, JOBS, NODES, PODS, Cluster, event, node, owned, pod, thing

CORE_EVENTS = "events"
AT = "2027-01-15T08:00:00"


def seen(received_ms=mirrored.BEGIN_MS, *, core=False, **fields):
    meta = {"name": "e", "namespace": "team", "uid": "u", "resourceVersion": "1", "creationTimestamp": None}
    raw = codec._encoder.encode({"metadata": {**meta, **fields.pop("metadata", {})}, **fields})
    return read(core_event.KIND if core else new_event.KIND, raw, Arrival(received_ms), 262_144).seen


def moment(text):
    return times.parse_us(text)


@pytest.mark.parametrize(
    ("fields", "at", "source"),
    [
        ({"eventTime": f"{AT}.123456Z"}, f"{AT}.123456Z", "event"),
        ({"eventTime": "2027-01-15T16:00:00.123456789+08:00"}, f"{AT}.123456Z", "event"),
        ({"eventTime": f"{AT}Z", "series": {"count": 2, "lastObservedTime": f"{AT}.5Z"}}, f"{AT}.5Z", "series"),
        ({"firstTimestamp": "2027-01-15T07:00:00Z", "lastTimestamp": f"{AT}Z"}, f"{AT}Z", "last"),
        ({"deprecatedFirstTimestamp": f"{AT}Z", "deprecatedLastTimestamp": f"{AT}Z"}, f"{AT}Z", "last"),
        ({"firstTimestamp": f"{AT}Z", "lastTimestamp": "2027-01-15T07:00:00Z"}, f"{AT}Z", "first"),
        ({"firstTimestamp": "0001-01-01T00:00:00Z", "eventTime": f"{AT}.000001Z"}, f"{AT}.000001Z", "event"),
        ({"metadata": {"creationTimestamp": f"{AT}Z"}}, f"{AT}Z", "created"),
        ({"eventTime": None, "firstTimestamp": None}, times.format_us(mirrored.BEGIN_MS * 1000), "received"),
    ],
)
def test_the_time_is_that_of_the_newest_occurrence(fields, at, source):
    found = seen(**fields)
    assert (found.at_us, found.time_source) == (moment(at), source)


def test_a_last_time_before_the_first_is_an_anomaly():
    assert seen(firstTimestamp=f"{AT}Z", lastTimestamp="2027-01-15T07:59:59Z").time_anomaly
    assert seen(eventTime=f"{AT}Z", series={"count": 2, "lastObservedTime": "2027-01-15T07:00:00Z"}).time_anomaly
    assert not seen(firstTimestamp=f"{AT}Z", lastTimestamp=f"{AT}Z").time_anomaly


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        ({}, 1),
        ({"count": 0}, 1),
        ({"count": 14}, 14),
        ({"deprecatedCount": 3}, 3),
        ({"series": {"count": 2}}, 2),
    ],
)
def test_the_count_is_absolute_and_at_least_one(fields, count):
    assert seen(**fields).count == count


def test_first_and_last_times_are_those_of_either_recorder():
    old = seen(firstTimestamp="2027-01-15T07:00:00Z", lastTimestamp=f"{AT}Z")
    assert (old.first_us, old.last_us) == (moment("2027-01-15T07:00:00Z"), moment(f"{AT}Z"))
    new = seen(eventTime=f"{AT}Z", series={"count": 2, "lastObservedTime": f"{AT}.25Z"})
    assert (new.first_us, new.last_us) == (moment(f"{AT}Z"), moment(f"{AT}.25Z"))
    once = seen(eventTime=f"{AT}Z")
    assert (once.first_us, once.last_us) == (moment(f"{AT}Z"), None)


@pytest.mark.parametrize(
    "fields",
    [
        {"source": {"component": "kubelet"}, "reportingComponent": ""},
        {"reportingComponent": "kubelet"},
        {"reportingController": "kubelet"},
        {"deprecatedSource": {"component": "kubelet"}},
    ],
)
def test_the_reporter_has_four_spellings(fields):
    assert seen(**fields).component == "kubelet"


def test_both_spellings_of_an_event_are_read_alike():
    about = {"apiVersion": "v1", "kind": "Pod", "name": "p", "namespace": "team", "uid": "uid-p"}
    core = seen(core=True, involvedObject=about, message="text", eventTime=f"{AT}Z", type="Warning", reason="Why")
    new = seen(regarding=about, note="text", eventTime=f"{AT}Z", type="Warning", reason="Why")
    assert core == new
    assert new.regarding.name == "p"
    assert new.message == "text"


def test_an_event_about_nothing_is_kept():
    assert seen().regarding is None
    assert seen(regarding={}).regarding is None
    assert seen(reason="", type="Odd").type == "Odd"


def test_merged_events_are_flagged_and_keep_their_message():
    found = seen(message="(combined from similar events): 0/4 nodes are available", core=True)
    assert found.aggregated
    assert found.message.startswith("(combined")


def test_a_message_beyond_all_bounds_is_cut_and_flagged():
    found = seen(note="x" * 100_000)
    assert len(found.message) == 32 * 1024
    assert found.truncated


def test_an_event_without_a_name_is_refused():
    with pytest.raises(Terminal):
        seen(metadata={"name": ""})


# whose they are


def jobs_of(cluster):
    return [record.data.job and str(record.data.job) for record in cluster.events()]


def test_an_event_goes_to_the_job_of_the_object_it_is_about():
    cluster = Cluster()
    cluster.add(JOBS, thing("train"))
    made = cluster.add(PODS, owned(pod("train-0"), "Job", "train"))
    group = cluster.add(GROUPS, thing("pg"))
    cluster.add(EVENTS, event("one", made))
    cluster.add(EVENTS, event("two", group, "PodGroup", api_version="scheduling.k8s.io/v1beta1"))
    assert jobs_of(cluster) == ["Job/team/train", "PodGroup/team/pg"]
    assert cluster.records[-2].bucket == bucket_of("test", "team", "train")


def test_an_event_without_the_uid_of_its_object_finds_it_by_name():
    cluster = Cluster()
    made = cluster.add(PODS, pod("one"))
    made["metadata"]["uid"] = ""
    cluster.add(EVENTS, event("said", made))
    assert jobs_of(cluster) == ["Pod/team/one"]


def test_an_event_about_a_node_goes_by_the_node():
    cluster = Cluster()
    cluster.add(NODES, node("gpu-3"))
    cluster.add(EVENTS, event("said", thing("gpu-3", "", uid="gpu-3"), "Node"))
    assert jobs_of(cluster) == [None]
    assert cluster.records[-1].bucket == bucket_of("test", "", "gpu-3")
    assert cluster.records[-1].data.regarding.uid == "gpu-3"


def test_an_event_that_comes_before_its_object_waits_for_it():
    cluster = Cluster()
    cluster.add(EVENTS, event("early", pod("one")))
    assert cluster.wrote() == []
    assert cluster.mirror.held(EVENTS)
    cluster.add(PODS, pod("one"))
    assert [record.data.name for record in cluster.wrote()] == ["one", "early"]
    assert cluster.records[-1].data.job.uid == "uid-one"
    assert not cluster.mirror.held(EVENTS)


def test_an_event_whose_object_comes_and_waits_itself_waits_with_it():
    cluster = Cluster()
    cluster.add(EVENTS, event("early", pod("train-0")))
    cluster.add(PODS, owned(pod("train-0"), "Job", "train"))
    cluster.add(EVENTS, event("late", pod("train-0")))
    assert cluster.wrote() == []
    cluster.add(JOBS, thing("train"))
    assert [record.data.name for record in cluster.wrote()] == ["train", "train-0", "early", "late"]
    assert not cluster.mirror.held(EVENTS)


def test_an_event_whose_object_never_comes_is_written_without_a_job():
    cluster = Cluster()
    cluster.add(EVENTS, event("said", pod("one")))
    cluster.pass_ms(2000)
    assert jobs_of(cluster) == [None]
    assert cluster.records[-1].bucket == bucket_of("test", "team", "one")
    assert not cluster.mirror.held(EVENTS)


@pytest.mark.parametrize("about", [("Secret", "v1"), ("HorizontalPodAutoscaler", "autoscaling/v2")])
def test_an_event_about_a_kind_that_is_not_watched_does_not_wait(about):
    cluster = Cluster()
    cluster.add(EVENTS, event("said", thing("one"), about[0], api_version=about[1]))
    assert jobs_of(cluster) == [None]


def test_an_old_event_about_what_is_gone_does_not_wait():
    cluster = Cluster()
    cluster.now += 120_000
    cluster.add(EVENTS, event("said", pod("one")))
    assert jobs_of(cluster) == [None]


def test_an_event_about_an_object_that_was_just_deleted_still_finds_its_job():
    cluster = Cluster()
    cluster.add(JOBS, thing("train"))
    made = cluster.add(PODS, owned(pod("train-0"), "Job", "train"))
    cluster.delete(PODS, made)
    cluster.add(EVENTS, event("said", made))
    made["metadata"]["uid"] = ""
    cluster.add(EVENTS, event("said-without-uid", made))
    assert jobs_of(cluster) == ["Job/team/train", "Job/team/train"]


# copies and expiry


def test_a_growing_count_is_a_record_each_and_an_update_that_changes_nothing_too():
    cluster = Cluster()
    made = cluster.add(PODS, pod("one"))
    for count in (1, 2, 2):
        cluster.modify(EVENTS, event("said", made, series={"count": count}))
    assert [record.data.count for record in cluster.events()] == [1, 2, 2]


def test_one_event_through_two_apis_is_written_once():
    cluster = Cluster()
    made = cluster.add(PODS, pod("one"))
    said = cluster.add(EVENTS, event("said", made))
    cluster.copy(CORE_EVENTS, said, "ADDED")
    assert len(cluster.events()) == 1
    assert cluster.mirror.counts["duplicates"] == 1


def test_the_expiry_of_an_event_is_no_news():
    cluster = Cluster()
    said = cluster.add(EVENTS, event("said", cluster.add(PODS, pod("one"))))
    cluster.known()
    cluster.wrote()
    cluster.delete(EVENTS, said)
    assert cluster.wrote() == []
    assert cluster.mirror.counts["ignored"] == 1
    assert cluster.known().deletes == [(EVENTS, "uid-said")]


def test_after_a_gap_events_are_compared_by_version_and_their_absence_is_no_news():
    cluster = Cluster()
    made = cluster.add(PODS, pod("one"))
    old = cluster.add(EVENTS, event("old", made))
    cluster.add(EVENTS, event("expired", made))
    cluster.wrote()
    cluster.list(EVENTS, old, event("new", made), unseen_since=cluster.now)
    assert [record.data.name for record in cluster.events()] == ["new"]
    assert ("events.events.k8s.io", "uid-expired") in cluster.known().deletes


def test_an_event_without_uid_gets_one_from_its_name_and_creation():
    cluster = Cluster()
    said = event("said", cluster.add(PODS, pod("one")))
    del said["metadata"]["uid"]
    cluster.add(EVENTS, said)
    record = cluster.events()[0]
    assert record.data.surrogate
    assert record.data.uid.startswith("surrogate:team/said/")
    assert cluster.mirror.counts["surrogate"] == 1


def test_bytes_that_were_replaced_are_flagged():
    cluster = Cluster()
    cluster.take(
        cluster.mirror.frame(
            EVENTS, "ADDED", b'{"metadata":{"name":"e","uid":"e"},"note":"\xef\xbf\xbd"}', cluster.now, True
        )
    )
    cluster.take(cluster.mirror.frame(PODS, "ADDED", b'{"metadata":{"name":"p","uid":"p"}}', cluster.now, True))
    assert [record.data.lossy for record in cluster.wrote()] == [True, True]
    assert cluster.mirror.counts["lossy"] == 2


def test_a_gap_of_events_says_how_many_a_list_showed_that_were_not_seen():
    cluster = Cluster()
    both = event("one", pod("a")), event("two", pod("a"))
    cluster.now += times.MINUTE_MS
    cluster.list(EVENTS, *both, unseen_since=cluster.now - 1000)
    cluster.list(EVENTS, *both, unseen_since=cluster.now - 1000)
    assert [record.data.changed for record in cluster.wrote() if isinstance(record, GapRecord)] == [2, 0]
