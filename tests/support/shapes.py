"""Runs one shape of watch input through the real reflector, follower, mirror and operator, and answers questions about it.

Only the network is scripted: the bytes of the case are what the server sends, in the case's own chunks. Kinds other than
the case's are not served. Input is received just after the newest time it names, frames of one watch ten seconds apart.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass, field
from typing import Any

from aggregation import messages, topology
from collector.kinds.catalog.kinds import KINDS
from collector.kinds.mirror import Mirror, MirrorOptions
from collector.watch.follower import Follower
from pipeline.kubeapi import happenings as tell
from pipeline.kubeapi.happenings import How
from pipeline.kubeapi.reflector import Reflector
from pipeline.kubeapi.resources import Collection, Resource
from pipeline.kubeapi.statuses import Action
from pipeline.kubeapi.transport import ConnectionLost, StreamSilent
from pipeline.records import shapes, times
from pipeline.records.envelope import EventRecord, GapRecord, ObjectRecord, Record
from pipeline.records.events import occurrences
from pipeline.records.rows import key_of
from tests.support.scripted_transport import FakeClock, ScriptedTransport, Stream, page, refused

_TIME = re.compile(r'"(\d{4}-\d\d-\d\dT[^"]{8,20}(?:Z|[+-]\d\d:\d\d))"')
_APART_S = 10.0
_QUIET_S = 30.0
_LATER_VERSION = "relisted"
_SET_ASIDE = (Action.DISABLE_KEEP_OTHERS, Action.NOT_SERVED)


@dataclass
class Outcome:
    """What became of the input."""

    records: list[Record] = field(default_factory=list)
    happenings: list[Any] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    dead: int = 0
    version: str = ""
    refreshes: int = 0
    now_ms: int = 0
    rows: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = field(default_factory=dict)
    rows_with_default: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = field(default_factory=dict)

    @property
    def written(self) -> list[Record]:
        """Records of objects and events."""
        return [each for each in self.records if isinstance(each, ObjectRecord | EventRecord)]

    @property
    def gaps(self) -> list[GapRecord]:
        return [each for each in self.records if isinstance(each, GapRecord)]

    @property
    def data(self) -> Any:
        """Body of the last record."""
        return self.written[-1].data

    @property
    def shape(self) -> Any:
        """The object of the last record."""
        return shapes.decode(self.data.group, self.data.kind, self.data.object)

    @property
    def action(self) -> str:
        """What the collector did about it, in the words of the cases."""
        told = self.happenings
        if any(isinstance(each, tell.Retrying) and each.action in _SET_ASIDE for each in told):
            return "disable_resource_keep_others"
        if self.refreshes:
            return "refresh_token"
        if any(isinstance(each, tell.Expired | tell.ListRestarted) for each in told):
            return "relist"
        ends = [each for each in told if isinstance(each, tell.StreamEnded)]
        if any(end.how is not How.ORDERLY or end.discarded_bytes for end in ends[:1]):
            return "reconnect_backoff"
        if not ends and any(isinstance(each, tell.Retrying) for each in told):
            return "reconnect_backoff"
        return "continue"

    def waits(self, *, default: bool = False) -> list[dict[str, Any]]:
        """Rows of `job_wait`, by episode."""
        rows = (self.rows_with_default if default else self.rows).get("job_wait", {})
        return sorted(rows.values(), key=lambda row: row["episode"])

    def segments(self) -> list[dict[str, Any]]:
        """Rows of `wait_segment` of the last wait, in order."""
        last = max((row["episode"] for row in self.waits()), default=0)
        found = [row for row in self.rows.get("wait_segment", {}).values() if row["episode"] == last]
        return sorted(found, key=lambda row: row["n"])

    def said(self) -> list[str]:
        """Coarse categories of what the last record's message says."""
        return sorted({said.category for text in self.texts() for said in messages.parse(text).reasons})

    def texts(self) -> list[str]:
        if isinstance(self.written[-1], EventRecord):
            return [self.data.message]
        found = []
        for condition in self.shape.status.conditions or ():
            refusing = (condition.type, condition.status) in (
                ("PodScheduled", "False"), ("QuotaReserved", "False"), ("Unschedulable", "True"),
                ("PodGroupInitiallyScheduled", "False"),
            )  # fmt: skip
            if refusing and condition.message:
                found.append(condition.message)
        return found

    def occurrences(self) -> list[int]:
        """Occurrences that each event record adds to the ones before it."""
        last: dict[str, Any] = {}
        added = []
        for record in self.written:
            if isinstance(record, EventRecord):
                added.append(occurrences(last.get(record.data.uid), record.data))
                last[record.data.uid] = record.data
        return added


def run(case: dict[str, Any], family: str, list_version: str | None = None) -> Outcome:
    """The case's input through everything. Raises ValueError for a container or a `then` that is not known.

    `list_version`: the frames are the items of a list that has this version.
    """
    case = _expanded(case)
    if list_version is not None and "frames" in case:
        case = {**case, "pages": [_listed(case.pop("frames"), list_version)]}
    known = {
        "frames", "streams", "raw_lines", "raw_lines_b64", "raw_chunks", "raw_chunks_b64", "pages", "http", "then",
        "received_at", "generator",
    }  # fmt: skip
    if set(case) - known:
        raise ValueError(f"containers that this runner does not know: {sorted(set(case) - known)}")
    begin_ms = times.parse_ms(case.get("received_at")) or _newest_ms(case) + 1000
    streams = case.get("streams") or {"": [None]}
    outcome = Outcome()
    mirror = Mirror("cluster", "test", MirrorOptions())
    follower = Follower(mirror)
    watches = {
        path: _kind_of(case if path == "" else {"frames": frames}, path, family) for path, frames in streams.items()
    }
    names = {kind.name for kind in watches.values()}
    records = follower.absent([kind.name for kind in KINDS if kind.name not in names], begin_ms)
    clock = FakeClock(begin_ms)
    for path, kind in watches.items():
        part = case if path == "" else {"frames": streams[path]}
        records += _watch(part, kind, clock, follower, outcome)
    for _ in range(6):
        clock.passed_s += 1.0
        records += follower.tick(clock.now_ms())
    outcome.records, outcome.dead = records, len(follower.dead)
    outcome.counts, outcome.now_ms = dict(mirror.counts), clock.now_ms()
    outcome.rows = _judged(records, clock.now_ms(), None)
    outcome.rows_with_default = _judged(records, clock.now_ms(), 3_600_000)
    return outcome


def _watch(case: dict[str, Any], kind: Any, clock: FakeClock, follower: Follower, outcome: Outcome) -> list[Record]:
    resource = Resource(kind.group, kind.versions[0], kind.plural, kind.kind, kind.namespaced)
    lists, streams = _scripts(case)
    relist = page(_LATER_VERSION)
    ahead = [
        _refused({"status": 504, "body": each})
        for each in _errors(case)
        if each.get("code") == 504 and "too large" in str(each.get("message")).lower()
    ]
    # A server that has not got to our version says so each time it is asked, and to probes too.
    wire = ScriptedTransport(clock, lists or [relist], streams * (5 if ahead else 1), ahead or None)
    from_list = bool(lists)
    reflector = Reflector(
        Collection(resource), wire, resume_from=None if from_list else "1", time=clock, dice=lambda: 0.0
    )
    wire.on_end = reflector.stop
    records: list[Record] = []
    if not from_list:  # what a collector that resumes has behind it: a list that showed nothing
        for each in (tell.ListStarted(clock.now_ms(), tell.Why.START),
                     tell.ListPage(clock.now_ms(), [], kind.kind, kind.api_version, "1", last=True)):  # fmt: skip
            follower.take(kind.name, each)
    for happening in reflector.happenings():
        outcome.happenings.append(happening)
        if not (isinstance(happening, tell.ListPage) and happening.version == _LATER_VERSION):
            outcome.version = reflector.progress.version
        records += follower.take(kind.name, happening)
        if isinstance(happening, tell.Bookmark | tell.Frames | tell.ListPage):
            outcome.version = next((w.version for w in follower.checkpoints() if w.key == kind.name), outcome.version)
    outcome.refreshes += wire.refreshes
    return records


def _scripts(case: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Answers to lists, and streams."""
    if "pages" in case:
        lists = [_page(each) for each in case["pages"]]
        if "http" in case["pages"][-1]:  # the list begins anew: the first page again, whole this time
            first = json.loads(lists[0])
            first["metadata"]["continue"] = ""
            lists.append(json.dumps(first).encode())
        return lists, []
    if "http" in case:
        return [], [_refused(case["http"])]
    return [], [Stream(*_chunks(case), *_then(case.get("then", "eof")))]


def _listed(frames: list[dict[str, Any]], version: str) -> dict[str, Any]:
    """A list that shows what the frames added, in their order."""
    items = [each["object"] for each in frames]
    first = items[0]
    return {
        "kind": f"{first['kind']}List",
        "apiVersion": first["apiVersion"],
        "metadata": {"resourceVersion": version},
        "items": items,
    }


def _errors(case: dict[str, Any]) -> list[dict[str, Any]]:
    return [each.get("object") or {} for each in case.get("frames") or () if each.get("type") == "ERROR"]


def _page(each: dict[str, Any]) -> Any:
    return _refused(each["http"]) if "http" in each else json.dumps(each).encode()


def _refused(http: dict[str, Any]) -> Any:
    body = http.get("body") or {}
    if isinstance(body, str):
        return refused(http["status"], message=body)
    details = body.get("details") or {}
    return refused(body.get("code") or http["status"], body.get("reason", ""), body.get("message", ""), **details)


def _chunks(case: dict[str, Any]) -> list[Any]:
    if "raw_chunks" in case:
        return [chunk.encode() for chunk in case["raw_chunks"]]
    if "raw_chunks_b64" in case:
        return [base64.b64decode(chunk) for chunk in case["raw_chunks_b64"]]
    if "raw_lines" in case:
        lines = [line.encode() for line in case["raw_lines"]]
    elif "raw_lines_b64" in case:
        lines = [base64.b64decode(line) for line in case["raw_lines_b64"]]
    else:
        lines = [json.dumps(each, ensure_ascii=False).encode() for each in case["frames"]]
    steps: list[Any] = []
    for line in lines:
        steps += [line + b"\n", _APART_S]
    return steps


def _then(what: str) -> list[Any]:
    """How the stream ends. A stream that lived a while and ends in order is no failure."""
    ends = {
        "eof": [_QUIET_S],
        "close": [_QUIET_S],
        "reset": [ConnectionLost("connection reset by peer")],
        "connection_reset": [ConnectionLost("connection reset by peer")],
        "silence": [StreamSilent("nothing came")],
        "silent": [StreamSilent("nothing came")],
        "hang": [StreamSilent("nothing came")],
        "timeout": [StreamSilent("nothing came")],
    }
    if what not in ends:
        raise ValueError(f"the runner does not know what the server does with then: {what!r}")
    return ends[what]


def _judged(
    records: list[Record], now_ms: int, default_ms: int | None
) -> dict[str, dict[tuple[Any, ...], dict[str, Any]]]:
    """Final rows of every job, by table and key."""
    operator = topology.JobOperator(topology.Options(default_waiting_ms=default_ms))
    states: dict[str, Any] = {}
    timers: dict[tuple[str, str], int] = {}
    rows: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = {}

    def apply(uid: str, step: Any) -> None:
        states[uid] = step.state
        for name, due in step.timers.items():
            timers.pop((uid, name), None)
            if due is not None:
                timers[uid, name] = due
        for row in step.rows:
            table = rows.setdefault(row.table, {})
            if row.deleted:
                table.pop(key_of(row), None)
            else:
                table[key_of(row)] = row.values

    def fire(until_ms: int) -> None:
        for uid, name in sorted(
            (key for key, due in timers.items() if due <= until_ms), key=lambda key: (timers[key], key)
        ):
            timers.pop((uid, name), None)
            if states.get(uid) is not None:
                apply(uid, operator.on_timer(states[uid], name, until_ms))

    stamp = 0
    for record in records:
        job = topology.job_of(record)
        stamp = max(stamp, record.observedms)
        if job is None:
            continue
        fire(stamp)
        state = states.get(job.uid)
        if state is None:
            state = operator.zero(record.cluster, job, stamp)
        apply(job.uid, operator.on_record(state, record, stamp))
    for later_ms in range(stamp, now_ms + 1, 1000) if stamp else ():
        fire(later_ms)
    return rows


def _expanded(value: Any) -> Any:
    """`{"$repeat": [text, n]}` is the text n times."""
    if isinstance(value, dict):
        if set(value) == {"$repeat"}:
            text, count = value["$repeat"]
            return text * count
        return {key: _expanded(each) for key, each in value.items()}
    return [_expanded(each) for each in value] if isinstance(value, list) else value


def _newest_ms(case: dict[str, Any]) -> int:
    text = json.dumps(case)
    for key in ("raw_lines_b64", "raw_chunks_b64"):
        text += b"".join(base64.b64decode(each) for each in case.get(key, [])).decode("utf-8", "replace")
    found = [times.parse_ms(each) for each in _TIME.findall(text.replace('\\"', '"'))]
    return max((each for each in found if each), default=1_772_438_400_000)


def _kind_of(case: dict[str, Any], path: str, family: str) -> Any:
    """The kind that a case's objects are of; events of core for a case without any object."""
    group, kind = _first_object(case)
    if not kind:
        kind = {"pod": "Pod", "node": "Node"}.get(family, "Event")
    if path.startswith("events.k8s.io") or (kind == "Event" and group == "events.k8s.io"):
        group = "events.k8s.io"
    return next(each for each in KINDS if (each.group, each.kind) == (group, kind))


def _first_object(case: dict[str, Any]) -> tuple[str, str]:
    for each in case.get("frames") or ():
        obj = (each or {}).get("object") or {}
        if obj.get("kind") not in (None, "Status"):
            return obj["apiVersion"].rpartition("/")[0], obj["kind"]
    for each in case.get("pages") or ():
        if "kind" in each:
            return each["apiVersion"].rpartition("/")[0], each["kind"].removesuffix("List")
    text = "".join(case.get("raw_lines") or case.get("raw_chunks") or ())
    text += b"".join(map(base64.b64decode, case.get("raw_lines_b64") or case.get("raw_chunks_b64") or ())).decode(
        errors="replace"
    )
    found = re.search(r'"apiVersion": ?"([^"]+)", ?"kind": ?"(\w+)"', text) or None
    swapped = re.search(r'"kind": ?"(\w+)", ?"apiVersion": ?"([^"]+)"', text)
    if found and found[2] != "Status":
        return found[1].rpartition("/")[0], found[2]
    return (swapped[2].rpartition("/")[0], swapped[1]) if swapped and swapped[1] != "Status" else ("", "")
