from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from pipeline.errors import Transient
from pipeline.kubeapi import frames
from pipeline.kubeapi.frames import BadLine, Frame
from pipeline.kubeapi.lines import LineSplitter
from pipeline.kubeapi.statuses import Action, action_for
from pipeline.records import shapes
from pipeline.records.shapes.event import Event


def event(version: str, message: str = "0/4 nodes are available: 4 Insufficient nvidia.com/gpu.") -> dict[str, Any]:
    metadata = {"name": "train-7.18a1", "namespace": "team-a", "uid": f"uid-{version}", "resourceVersion": version}
    return {"apiVersion": "v1", "kind": "Event", "metadata": metadata, "reason": "FailedScheduling", "message": message}


def line(type_: str, obj: Any) -> bytes:
    return json.dumps({"type": type_, "object": obj}, ensure_ascii=False).encode()


def one(data: bytes) -> Frame:
    (frame,) = frames.decode(data)
    assert isinstance(frame, Frame)
    return frame


def only_bad(data: bytes) -> BadLine:
    (bad,) = frames.decode(data)
    assert isinstance(bad, BadLine)
    return bad


def test_an_object_frame_keeps_the_servers_bytes_and_its_version() -> None:
    sent = b'{"object": {"metadata":{"resourceVersion":"v-00a9f"}, "x" : 1.50},"type":"MODIFIED"}'
    frame = one(sent)
    assert (frame.type, frame.version, frame.lossy) == ("MODIFIED", "v-00a9f", False)
    assert bytes(frame.object) == b'{"metadata":{"resourceVersion":"v-00a9f"}, "x" : 1.50}'
    assert frame.raw == sent


def test_bytes_that_are_not_utf_8_are_replaced_and_marked() -> None:
    frame = one(line("ADDED", event("1000", "bad @@ byte")).replace(b"@@", b"\xff\xfe"))
    assert frame.lossy
    assert frame.version == "1000"
    assert msgspec.json.decode(frame.object)["message"] == "bad \ufffd\ufffd byte"


def read(data: bytes) -> Frame:
    (frame,) = frames.Reader(shapes.shape_of("", "Event")).decode(data)
    assert isinstance(frame, Frame)
    return frame


def test_a_reader_that_knows_the_shape_gives_the_object_itself() -> None:
    frame = read(line("MODIFIED", event("1000")))
    assert isinstance(frame.shape, Event)
    assert (frame.type, frame.version, frame.lossy) == ("MODIFIED", "1000", False)
    assert frame.shape.reason == "FailedScheduling"
    assert frame.raw == line("MODIFIED", event("1000"))


def test_a_reader_replaces_and_marks_bytes_that_are_not_utf_8_also_where_it_does_not_look() -> None:
    unread = {**event("1000"), "unknown": "bad @@ byte"}
    frame = read(line("ADDED", unread).replace(b"@@", b"\xff\xfe"))
    assert frame.shape is not None
    assert frame.lossy


@pytest.mark.parametrize(
    "data",
    [
        line("ADDED", {**event("1000"), "count": "many"}),
        line("BOOKMARK", {"metadata": {"resourceVersion": "7"}}),
        line("ERROR", {"kind": "Status", "code": 410}),
        line("ADDED", event("1000")) * 2,
        line("ADDED", None),
        b'{"type":"ADDED", oops',
        b"[]",
    ],
)
def test_what_does_not_fit_the_shape_is_read_as_without_one(data: bytes) -> None:
    def told(found: list[Frame | BadLine]) -> list[object]:
        return [each if isinstance(each, BadLine) else (each.type, bytes(each.object), each.shape) for each in found]

    assert told(frames.Reader(shapes.shape_of("", "Event")).decode(data)) == told(frames.decode(data))


def test_a_character_split_over_chunks_is_not_lossy() -> None:
    data = line("ADDED", event("1000", "资源不足")) + b"\n"
    cut = data.index("资".encode()) + 1
    splitter = LineSplitter()
    lines = splitter.feed(data[:cut]) + splitter.feed(data[cut:])
    frame = one(lines[0])
    assert not frame.lossy
    assert msgspec.json.decode(frame.object)["message"] == "资源不足"


def test_two_values_on_one_line_are_two_frames() -> None:
    found = frames.decode(line("ADDED", event("5500", "é")) + b" " + line("DELETED", event("5510")))
    assert [(f.type, f.version) for f in found if isinstance(f, Frame)] == [("ADDED", "5500"), ("DELETED", "5510")]


def test_a_whole_value_before_a_broken_one_is_kept() -> None:
    whole, broken = frames.decode(line("ADDED", event("1")) + b'{"type":"ADDED", oops')
    assert isinstance(whole, Frame)
    assert whole.version == "1"
    assert isinstance(broken, BadLine)
    assert broken.raw == b'{"type":"ADDED", oops'


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b'{"type":"ADDED","object":{"metadata":{"resourceVersion":"5410"}, oops', id="broken"),
        pytest.param(b'{"type":"ADDED","object":null}', id="null object"),
        pytest.param(b'{"type":"ADDED"}', id="no object"),
        pytest.param(b'{"object":{"metadata":{"resourceVersion":"1"}}}', id="no type"),
        pytest.param(b'{"type":"SYNC","object":{"metadata":{"resourceVersion":"1"}}}', id="unknown type"),
        pytest.param(b'{"type":"ADDED","object":[1]}', id="object is a list"),
        pytest.param(b'{"type":"BOOKMARK","object":{"metadata":{}}}', id="bookmark without version"),
        pytest.param(b"[1,2]", id="no object at all"),
        pytest.param(b"502 Bad Gateway", id="a proxy's text"),
        pytest.param(b'{"type":"ADDED","object":' + b"[" * 100_000, id="nested without end"),
        pytest.param(b'{"type":"ADDED","object":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}", id="nested too deep"),
    ],
)
def test_what_is_no_frame_is_kept_with_its_bytes(data: bytes) -> None:
    bad = only_bad(data)
    assert bad.raw == data
    assert bad.error


@pytest.mark.parametrize("metadata", [None, {}, {"resourceVersion": None}])
def test_an_object_without_a_version_is_a_frame_without_one(metadata: Any) -> None:
    assert one(line("ADDED", {"metadata": metadata})).version == ""


def test_a_bookmark_with_the_types_zero_fields_is_accepted() -> None:
    zero = {
        "kind": "Pod",
        "metadata": {"resourceVersion": "5000", "creationTimestamp": None},
        "spec": {"containers": None},
        "status": {},
    }
    frame = one(line("BOOKMARK", zero))
    assert (frame.type, frame.version, frame.initial_events_end) == ("BOOKMARK", "5000", False)


@pytest.mark.parametrize(("value", "is_end"), [("true", True), ("false", False)])
def test_the_end_of_the_initial_events_is_told_by_an_annotation(value: str, is_end: bool) -> None:
    metadata = {"resourceVersion": "7", "annotations": {"k8s.io/initial-events-end": value}}
    assert one(line("BOOKMARK", {"metadata": metadata})).initial_events_end is is_end


@pytest.mark.parametrize("reason", ["Expired", "Gone"])
def test_an_error_frame_has_a_problem_and_never_a_version(reason: str) -> None:
    status = {
        "kind": "Status",
        "metadata": {"resourceVersion": "9"},
        "reason": reason,
        "code": 410,
        "message": "too old resource version: 4000 (5200)",
    }
    frame = one(line("ERROR", status))
    assert frame.version == ""
    assert frame.problem is not None
    assert frame.problem.code == 410
    assert action_for(frame.problem) is Action.RELIST


def test_an_error_frame_without_a_status_is_still_an_error() -> None:
    frame = one(b'{"type":"ERROR","object":null}')
    assert frame.problem is not None
    assert action_for(frame.problem) is Action.RECONNECT_BACKOFF


def page(metadata: Any, items: Any = (), **more: Any) -> bytes:
    return json.dumps(
        {
            "kind": "EventList",
            "apiVersion": "v1",
            "metadata": metadata,
            "items": list(items) if items is not None else None,
            **more,
        }
    ).encode()


def test_a_page_names_the_kind_that_its_items_leave_out() -> None:
    found = frames.decode_page(page({"resourceVersion": "5900", "continue": "tok1"}, [event("5890")]))
    assert (found.kind, found.api_version, found.version, found.token) == ("Event", "v1", "5900", "tok1")
    assert [msgspec.json.decode(item)["metadata"]["resourceVersion"] for item in found.items] == ["5890"]


def test_the_version_of_a_page_is_the_lists_own_and_never_an_items() -> None:
    found = frames.decode_page(page({"resourceVersion": "5830", "continue": ""}, [event("5820"), event("5810")]))
    assert (found.version, found.token) == ("5830", "")


def test_an_empty_list_may_have_null_items() -> None:
    assert frames.decode_page(page({"resourceVersion": "1"}, None)).items == []


def test_items_that_are_no_objects_are_set_apart() -> None:
    found = frames.decode_page(page({"resourceVersion": "1"}, [event("1"), None, "text"]))
    assert len(found.items) == 1
    assert [bad.raw for bad in found.bad] == [b"null", b'"text"']


def test_a_page_with_bad_bytes_is_lossy() -> None:
    found = frames.decode_page(page({"resourceVersion": "1"}, [event("1", "@")]).replace(b"@", b"\xff"))
    assert found.lossy
    assert msgspec.json.decode(found.items[0])["message"] == "\ufffd"


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"{}", b'{"metadata":{"resourceVersion":""},"items":[]}', page({"resourceVersion": "1"})[:-5]],
)
def test_what_is_no_list_is_worth_another_try(body: bytes) -> None:
    with pytest.raises(Transient):
        frames.decode_page(body)


def test_a_refusal_without_an_envelope_is_an_error_frame() -> None:
    expired = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "too old", "code": 410}
    frame = one(json.dumps(expired).encode())
    assert frame.type == "ERROR"
    assert frame.problem is not None
    assert action_for(frame.problem) is Action.RELIST
    only_bad(json.dumps({**expired, "status": "Success"}).encode())


def test_a_table_is_no_list_and_never_taken_for_an_empty_one() -> None:
    table = {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": "7"},
        "rows": [{"cells": ["a"]}],
    }
    with pytest.raises(Transient, match="no list but Table"):
        frames.decode_page(json.dumps(table).encode())
    empty = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": None}
    assert frames.decode_page(json.dumps(empty).encode()).items == []
