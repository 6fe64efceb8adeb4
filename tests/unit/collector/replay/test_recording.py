"""A recording is read as the happenings of a watch."""

import gzip
import json

import pytest

from collector.replay.player import beats, parse_pace
from collector.replay.recording import Recording, resource_name
from pipeline.errors import BadUsage, UserError
from pipeline.kubeapi import happenings as tell


def write(folder, name, lines, zipped=False):
    text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    path = folder / f"{name}.ndjson{'.gz' if zipped else ''}"
    path.write_bytes(gzip.compress(text) if zipped else text)


def request(t, target, status=200):
    return {
        "t": t,
        "watch": "x",
        "request": {"method": "GET", "target": target, "sent": t, "status": status, "headers": {}},
    }


def pod(name, version):
    return {"metadata": {"name": name, "namespace": "n", "uid": name, "resourceVersion": version}}


def page(t, items, version, token=""):
    return {"t": t, "watch": "x", "list": {"kind": "PodList", "apiVersion": "v1",
            "metadata": {"resourceVersion": version, "continue": token}, "items": items}}  # fmt: skip


def frame(t, kind, obj):
    return {"t": t, "watch": "x", "frame": {"type": kind, "object": obj}}


GONE = {"kind": "Status", "status": "Failure", "message": "too old resource version", "reason": "Expired", "code": 410}


def told(folder):
    return [played.happening for played in Recording(folder)]


def test_a_paged_list_then_a_watch_then_its_end(tmp_path):
    write(tmp_path, "pods", [
        request(1, "/api/v1/pods?limit=1"), page(2, [pod("a", "4")], "9", "t"),
        request(3, "/api/v1/pods?limit=1&continue=t"), page(4, [pod("b", "5")], "9"),
        request(5, "/api/v1/pods?watch=true&resourceVersion=9"), frame(6, "MODIFIED", pod("a", "10")),
        frame(7, "BOOKMARK", pod("", "12")), {"t": 8, "watch": "x", "end": {"reason": "eof"}},
    ], zipped=True)  # fmt: skip
    started, first, second, watching, frames, mark, ended = told(tmp_path)
    assert isinstance(started, tell.ListStarted)
    assert (first.last, second.last, second.version, second.kind) == (False, True, "9", "Pod")
    assert watching.from_version == "9"
    assert frames.frames[0].version == "10"
    assert mark.version == "12"
    assert ended.how is tell.How.ORDERLY


def test_an_expired_watch_says_until_when_everything_had_come(tmp_path):
    write(tmp_path, "pods", [
        request(1, "/api/v1/pods"), page(2, [], "9"), request(3, "/api/v1/pods?watch=1&resourceVersion=9"),
        frame(4, "ADDED", pod("a", "10")), frame(50, "ERROR", GONE), {"t": 50, "watch": "x", "end": {"reason": "error frame"}},
        request(60, "/api/v1/pods"), page(61, [], "99"),
    ])  # fmt: skip
    expired = next(each for each in told(tmp_path) if isinstance(each, tell.Expired))
    assert (expired.from_ms, expired.from_version) == (4, "10")


def test_a_list_that_streams_is_a_list(tmp_path):
    end = pod("", "20")
    end["metadata"]["annotations"] = {"k8s.io/initial-events-end": "true"}
    write(tmp_path, "pods", [
        request(1, "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
        frame(2, "ADDED", pod("a", "4")), frame(3, "BOOKMARK", end), frame(4, "DELETED", pod("a", "21")),
    ])  # fmt: skip
    kinds = [type(each).__name__ for each in told(tmp_path)]
    assert kinds == ["ListStarted", "ListPage", "ListPage", "WatchStarted", "Frames"]


def test_an_expired_token_begins_the_list_anew(tmp_path):
    write(tmp_path, "pods", [
        request(1, "/api/v1/pods?limit=1"), page(2, [pod("a", "4")], "9", "t"),
        request(3, "/api/v1/pods?limit=1&continue=t", 410), {"t": 3, "watch": "x", "error": GONE},
        request(4, "/api/v1/pods?limit=1"), page(5, [pod("a", "4")], "12"),
    ])  # fmt: skip
    kinds = [type(each).__name__ for each in told(tmp_path)]
    assert kinds == ["ListStarted", "ListPage", "ListRestarted", "ListPage"]


def test_events_of_the_newer_api_stand_for_both_and_side_recordings_are_left_out(tmp_path):
    for name, target in [
        ("events-core", "/api/v1/events"), ("events", "/apis/events.k8s.io/v1/events"), ("pods", "/api/v1/pods"),
        ("pods-late", "/api/v1/pods"), ("pods-watchlist", "/api/v1/pods"),
    ]:  # fmt: skip
        write(tmp_path, name, [request(1, target)])
    assert Recording(tmp_path).watches == ("events.events.k8s.io", "pods")


def test_the_manifest_chooses_the_files(tmp_path):
    write(tmp_path, "pods", [request(1, "/api/v1/pods")])
    write(tmp_path, "pods-late", [request(1, "/api/v1/pods")])
    (tmp_path / "manifest.json").write_text('{"files": ["pods-late.ndjson"], "cluster": "prod"}')
    assert Recording(tmp_path).watches == ("pods",)


@pytest.mark.parametrize(
    ("content", "where"),
    [(b'{"t": 1, "request": {"target": "/api/v1/pods"}}\nnot json\n', "pods.ndjson:2"), (b"{}\n", "pods.ndjson:1")],
)
def test_a_wrong_line_is_named_by_file_and_line(tmp_path, content, where):
    (tmp_path / "pods.ndjson").write_bytes(content)
    with pytest.raises(UserError) as caught:
        list(Recording(tmp_path))
    assert caught.value.where == where


REQUEST = b'{"t": 1, "request": {"target": "/api/v1/pods"}}\n'
PAGE = b'{"t": 2, "list": {"kind": "PodList", "metadata": {"resourceVersion": "9"}, "items": []}}\n'


def cut_told(caplog):
    return [(found.msg["file"], found.msg["lines"]) for found in caplog.records if "recording_cut" in str(found.msg)]


def test_an_archive_cut_anywhere_is_read_to_there_and_that_is_told(tmp_path, caplog):
    archive = tmp_path / "pods.ndjson.gz"
    with gzip.open(archive, "wb") as file:
        for line in (REQUEST, PAGE):
            file.write(line)
            file.flush()
    whole = archive.read_bytes()
    assert len(list(Recording(tmp_path))) == 2 and not cut_told(caplog)
    counts = []
    for size in range(10, len(whole)):  # less than a header comes from no recorder
        archive.write_bytes(whole[:size])
        caplog.clear()
        try:
            counts.append(len(list(Recording(tmp_path))))
        except UserError as error:
            assert "no recorded watch" in error.what
            counts.append(0)
        assert cut_told(caplog)[-1] == ("pods.ndjson.gz", counts[-1])
    assert counts == sorted(counts) and set(counts) == {0, 1, 2}


def test_a_last_line_that_is_not_whole_is_left_out_and_that_is_told(tmp_path, caplog):
    (tmp_path / "pods.ndjson").write_bytes(REQUEST + PAGE[:-1])
    assert len(list(Recording(tmp_path))) == 2 and not cut_told(caplog)
    (tmp_path / "pods.ndjson").write_bytes(REQUEST + PAGE[:-20])
    assert len(list(Recording(tmp_path))) == 1
    assert cut_told(caplog) == [("pods.ndjson", 1)]


def test_a_file_of_which_nothing_came_to_the_disk_is_left_out_and_that_is_told(tmp_path, caplog):
    (tmp_path / "pods.ndjson").write_bytes(REQUEST + PAGE)
    (tmp_path / "nodes.ndjson.gz").touch()
    assert Recording(tmp_path).watches == ("pods",)
    assert cut_told(caplog) == [("nodes.ndjson.gz", 0)]


def test_an_archive_that_is_damaged_before_its_end_is_a_clear_error(tmp_path):
    damaged = bytearray(gzip.compress(REQUEST + PAGE * 100))
    damaged[40] ^= 0xFF
    (tmp_path / "pods.ndjson.gz").write_bytes(damaged)
    with pytest.raises(UserError, match="the recording cannot be read"):
        list(Recording(tmp_path))


@pytest.mark.parametrize("missing", ["folder", "empty"])
def test_no_recording_says_what_to_name(tmp_path, missing):
    with pytest.raises(UserError) as caught:
        Recording(tmp_path / "x" if missing == "folder" else tmp_path)
    assert "NAME.ndjson.gz" in caught.value.fix


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("/api/v1/pods?limit=5", "pods"), ("/apis/batch/v1/jobs", "jobs.batch"),
        ("/api/v1/namespaces/a/pods", "pods"), ("/healthz", None),
    ],
)  # fmt: skip
def test_a_request_names_its_resource(target, name):
    assert resource_name(target) == name


@pytest.mark.parametrize(
    ("text", "moments"),
    [("2x", {0: 0, 10_000: 5}), ("10x@60s,1x", {60_000: 6, 70_000: 16}), ("max", {10_000: 0})],
)
def test_pace_says_when_a_moment_is_due(text, moments):
    pace = parse_pace(text)
    assert {at: pace.due_s(at) for at in moments} == moments


@pytest.mark.parametrize("text", ["fast", "0x", "2x@10s", "2x@soon,1x", "2x,1x", "-1x"])
def test_a_wrong_speed_is_refused_with_an_example(text):
    with pytest.raises(BadUsage) as caught:
        parse_pace(text)
    assert caught.value.fix.startswith("Write")


def test_every_whole_second_of_recorded_time_has_a_beat_before_what_follows_it(tmp_path):
    write(tmp_path, "pods", [request(1500, "/api/v1/pods"), page(4100, [], "9")])
    assert [beat.t for beat in beats(Recording(tmp_path))] == [1500, 2000, 3000, 4000, 4100, 5000]
