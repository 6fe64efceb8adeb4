"""A live pipeline killed again and again while its cluster is busy, compared with what the API server says happened.

Of pods and jobs every state that came while somebody watched must be in `object_change`, none that the server does not
know, none twice. While nobody watches states may pass unseen, which gap records say; what every object came to is there
all the same. Of jobs, each has one wait: its end is that of its pods within a second, its parts and hours tile it, and
there is a violation exactly where the promise was broken. Of the shadow's decisions, none is twice in the log, each is one
row, and `why` says in the end of every waiting job what a shadow says that reads the log from its beginning.
"""

from __future__ import annotations

import datetime
import random
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from collector import app as collector_app
from collector import rights
from collector.settings import Settings
from pipeline.config.places import Places
from pipeline.log import LogReader, Position
from pipeline.records import codec, times
from pipeline.records.envelope import GapRecord
from tests.chaos import deaths, decided
from tests.chaos.load import NAMESPACE, PROMISE_S, Load
from tests.support import cluster
from tests.support.cluster import Cluster, poll
from tests.support.running import Pipeline
from tests.support.truth import State, Truth

LONGEST_S = 10.0
SHARE = 6
"""Of so many kills one is inside each group of writes; the rest are at random."""
CLUSTER = "live"
SEGMENTS = ("--set", "collector.spool.segment_bytes=256KiB")
"""Small ones: with each comes a snapshot of the shadow."""
SLACK_MS = 1500
"""Two watchers see a frame at two moments."""
QUIET_S = 10.0
SAID_S = 40.0
"""New figures wait for ten seconds, and a disagreement is told after fifteen."""
SECOND_MS = 1000
TOLD = 10
"""Of so many jobs of which something is wrong the whole story is told."""
GAP_NEAR_MS = 30_000
Row = dict[str, Any]


class Seen(NamedTuple):
    """What the server says: every state of pods and jobs, by uid."""

    pods: dict[str, list[State]]
    jobs: dict[str, list[State]]


def run(folder: Path, *, kills: int, seed: int, rate: float) -> bool:
    """Prints every death and everything that is wrong; whether nothing is, and enough kills were inside a write."""
    dice = random.Random(seed)
    counts: Counter[str] = Counter()
    folder.mkdir(parents=True, exist_ok=True)
    with Cluster(cluster.programs(), folder / "kube", tier=3) as kube:
        role = yaml.safe_load_all(rights.role(collector_app.kinds(Settings()), service_account="x", namespace="x"))
        kube.allow("collector", next(role)["rules"])
        arguments = ("--kubeconfig", str(kube.kubeconfig("collector")), "--set", f"cluster.name={CLUSTER}", *SEGMENTS)
        pipeline = Pipeline(folder / "data", *arguments)
        with pipeline, _truth(kube, "", "pods") as pods, _truth(kube, "batch/v1", "jobs") as jobs:
            poll("pods and jobs are watched", lambda: _watched(pipeline) >= {"pods", "jobs.batch"}, 60)
            pipeline.stop()
            with Load(kube, dice, rate) as load:
                for death in deaths.drawn(dice, kills, dict.fromkeys(deaths.GROUPS, kills // SHARE), LONGEST_S):
                    deaths.live_and_die(pipeline, death, counts)
                pipeline.start()
                load.stop()
                assert load.failure is None, load.failure
                print(f"{load.jobs} jobs were made", flush=True)
                poll("the cluster is quiet", lambda: min(pods.idle_s(), jobs.idle_s()) > QUIET_S, 120)
            seen = Seen(pods.states, jobs.states)
            poll("the last states are there", lambda: not _behind(pipeline, pods, jobs), 60)
            assert not pods.broken
            assert not jobs.broken
            gaps = _gaps(pipeline)
            wrong = _objects(pipeline, seen, gaps) + _waits(pipeline, seen, gaps) + _decisions(pipeline)
    print("at each point: " + deaths.points(counts))
    for each in wrong[:40]:
        print(f"  {each}")
    same = "0 lost, 0 extra, 0 different" if not wrong else f"{len(wrong)} wrong, see above"
    print(f"{deaths.told(counts)}; {same}")
    return not wrong and deaths.enough(counts)


def _watched(pipeline: Pipeline) -> set[str]:
    """Watches whose first list is complete; from then on what is missed is a gap."""
    answer = pipeline.try_get("pipeline") or {}
    return {watch["watch"] for watch in answer.get("watches", ()) if watch["last_list_ms"] is not None}


def _truth(kube: Cluster, group: str, plural: str) -> Truth:
    prefix = f"/apis/{group}" if group else "/api/v1"
    return Truth(kube, f"{prefix}/namespaces/{NAMESPACE}/{plural}")


def _behind(pipeline: Pipeline, *truths: Truth) -> set[str]:
    """Objects of which the last state is not in the tables."""
    have = {
        (row["uid"], row["object_version"]) for row in pipeline.sql("SELECT uid, object_version FROM object_change")
    }
    return {uid for truth in truths for uid in truth.live() if (uid, truth.states[uid][-1].version) not in have}


def _objects(pipeline: Pipeline, seen: Seen, gaps: dict[str, list[tuple[int, int]]]) -> list[str]:
    """What is lost, too much or double among the states of pods and jobs."""
    wrong: list[str] = []
    compared = 0
    for kind, truth in (("Pod", seen.pods), ("Job", seen.jobs)):
        rows = pipeline.sql("SELECT * FROM object_change WHERE kind = %s AND namespace = %s", kind, NAMESPACE)
        by_uid: defaultdict[str, list[Row]] = defaultdict(list)
        for row in rows:
            if row["change"] in ("added", "modified", "deleted"):
                by_uid[row["uid"]].append(row)
        wrong += [f"extra: {kind} {uid} is no object of the server" for uid in by_uid if uid not in truth]
        for uid, states in truth.items():
            compared += len(states)
            wrong += [f"{kind} {uid}: {each}" for each in _object(states, by_uid[uid], gaps[kind])]
    print(f"{compared} states of pods and jobs compared, {sum(map(len, gaps.values()))} gap records")
    return wrong


def _object(states: list[State], rows: list[Row], gaps: list[tuple[int, int]]) -> list[str]:
    if not rows and _unseen(states, gaps):
        return []
    wrong: list[str] = []
    versions = {state.version for state in states}
    known = Counter(row["object_version"] for row in rows if row["change"] != "deleted")
    ends = [row for row in rows if row["change"] == "deleted"]
    wrong += [
        f"extra: version {row['object_version']} {row['change']}"
        for row in rows
        if row["object_version"] not in versions
    ]
    wrong += [f"double: version {version}" for version, count in known.items() if count > 1]
    gone = states[-1].type == "DELETED"
    if len(ends) != int(gone):
        wrong.append(f"{len(ends)} ends, deleted is {gone}")
    for state in states:
        if state.type != "DELETED" and state.version not in known and not _unseen([state], gaps):
            wrong.append(f"lost: version {state.version} {state.type} at {state.at_ms}")
    return wrong


def _unseen(states: list[State], gaps: list[tuple[int, int]]) -> bool:
    """Whether all of these came and went in one gap."""
    first_ms, last_ms = states[0].at_ms, states[-1].at_ms
    return any(begin - SLACK_MS <= first_ms and last_ms <= end + SLACK_MS for begin, end in gaps)


def _gaps(pipeline: Pipeline) -> defaultdict[str, list[tuple[int, int]]]:
    """Times in which nobody watched, by kind, as the log says."""
    found: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    with LogReader(Places(pipeline.data).records, "test", start=Position(0, 0)) as reader:
        while (batch := reader.read()).entries:
            for entry in batch.entries:
                record = codec.decode(entry.line)
                if isinstance(record, GapRecord):
                    found[record.data.kind].append((record.data.from_ms, record.data.to_ms))
    return found


def _waits(pipeline: Pipeline, seen: Seen, all_gaps: dict[str, list[tuple[int, int]]]) -> list[str]:
    """What is wrong about the waits of jobs."""
    gaps, pod_gaps = all_gaps["Job"], all_gaps["Pod"]
    tables = {
        name: _by_job(pipeline.sql(f"SELECT * FROM {name} WHERE namespace = %s", NAMESPACE))
        for name in ("job_wait", "wait_segment", "wait_reason_hour", "sla_violation")
    }
    wrong = [f"extra: a wait of {uid}, which is no job" for uid in tables["job_wait"] if uid not in seen.jobs]
    phases: Counter[str] = Counter()
    for uid, states in seen.jobs.items():
        rows = tables["job_wait"][uid]
        if not rows and _unseen(states, gaps):
            phases["never seen"] += 1
            continue
        if len(rows) != 1:
            wrong.append(f"Job {uid}: {len(rows)} waits")
            continue
        phases[rows[0]["phase"]] += 1
        placed = _placed(states, seen.pods, pod_gaps)
        if placed.unseen:
            phases["placed and gone in one gap"] += 1
            wrong += [f"Job {uid}: {each}" for each in _guessed(rows[0], placed.at_ms or 0, pod_gaps)]
            continue
        parts = {name: found[uid] for name, found in tables.items()}
        wrong += [f"Job {uid}: {each}" for each in _wait(rows[0], states, placed.at_ms, parts)]
    for uid in [uid for uid in seen.jobs if any(f" {uid}: " in each for each in wrong)][:TOLD]:
        _tell(uid, seen, pod_gaps)
    counts = ", ".join(f"{name} {sum(map(len, found.values()))}" for name, found in tables.items())
    print(f"{len(seen.jobs)} jobs compared ({dict(phases)}); rows: {counts}")
    return wrong


def _tell(uid: str, seen: Seen, gaps: list[tuple[int, int]]) -> None:
    """The story of a job of which something is wrong, as the server told it."""
    print(f"  Job {uid}: {', '.join(f'{state.type} {state.at_ms}' for state in seen.jobs[uid])}")
    for states in seen.pods.values():
        if _owner(states[0].object) == uid:
            told = [f"{state.type} {state.at_ms}" + " bound" * (_bound_ms(state) is not None) for state in states]
            print(f"    pod {states[0].object['metadata']['name']}: {', '.join(told)}")
    begin_ms, end_ms = seen.jobs[uid][0].at_ms, seen.jobs[uid][-1].at_ms
    near = [gap for gap in gaps if gap[1] >= begin_ms - GAP_NEAR_MS and gap[0] <= end_ms + GAP_NEAR_MS]
    print(f"    gaps of pods: {near}")


def _decisions(pipeline: Pipeline) -> list[str]:
    """What is wrong about the shadow's decisions, and about what `why` shows of them."""
    until_s = time.monotonic() + SAID_S
    wrong = _unsaid(pipeline)
    while wrong and time.monotonic() < until_s:
        time.sleep(1.0)
        wrong = _unsaid(pipeline)
    made = decided.records(pipeline.data)
    waiting = _waiting(pipeline)
    shown = sum(decided.sights(pipeline, _named(row)) is not None for row in waiting)
    print(
        f"{len(made)} decisions of the log compared; of {len(waiting)} waiting jobs `why` shows {shown} reasons of the shadow"
    )
    if not shown:
        wrong.append("of no waiting job `why` shows what the shadow sees")
    return wrong + decided.doubled(made) + decided.missing_rows(pipeline, made)


def _unsaid(pipeline: Pipeline) -> list[str]:
    """Waiting jobs of which `why` does not show what a shadow says that reads the whole log anew."""
    fresh = decided.fresh(pipeline.data, CLUSTER)
    wrong = []
    for row in _waiting(pipeline):
        seen = decided.sights(pipeline, _named(row))
        shown = None if seen is None else (seen["task"] or "", seen["reason"], seen["nodes"], seen["total_nodes"])
        if shown not in (fresh.get(row["job_uid"]) or {None}):
            wrong.append(f"{row['job_name']}: {shown}, should be one of {fresh.get(row['job_uid'])}")
    return wrong


def _waiting(pipeline: Pipeline) -> list[Row]:
    return pipeline.sql("SELECT * FROM job_wait WHERE namespace = %s AND phase = 'waiting'", NAMESPACE)


def _named(row: Row) -> str:
    return f"{CLUSTER}/{row['namespace']}/{row['job_kind']}/{row['job_name']}"


def _wait(row: Row, states: list[State], placed_ms: int | None, parts: dict[str, list[Row]]) -> list[str]:
    wrong: list[str] = []
    gone = states[-1].type == "DELETED"
    phase = "scheduled" if placed_ms is not None else "cancelled" if gone else "waiting"
    if row["phase"] != phase:
        return [f"phase {row['phase']}, should be {phase}"]
    if placed_ms is not None:
        late_ms = _ms(row["scheduled_at"]) - placed_ms
        if not -1 <= late_ms <= SECOND_MS:
            wrong.append(f"its wait ends {late_ms} ms after its pods say")
    if row["ended_at"] is not None:
        for name, column in (("wait_segment", "ms"), ("wait_reason_hour", "wait_ms")):
            total = sum(part[column] for part in parts[name])
            if total != row["wait_ms"]:
                wrong.append(f"{name} sums up to {total} of {row['wait_ms']} ms")
    return wrong + _promise(row, states[0].object["metadata"], parts["sla_violation"])


def _promise(row: Row, meta: dict[str, Any], violations: list[Row]) -> list[str]:
    """The deadline counts from the whole second of the job's creation, so from a little before the wait itself."""
    if "volcano.sh/sla-waiting-time" not in meta.get("annotations", {}):
        return [f"{len(violations)} violations without a promise"] if violations else []
    deadline_ms = (times.parse_ms(meta["creationTimestamp"]) or 0) + PROMISE_S * SECOND_MS
    broken = _ms(row["ended_at"] or row["as_of"]) >= deadline_ms
    states = [each["state"] for each in violations if each["state"] != "withdrawn"]
    if len(states) != int(broken):
        return [f"violations {states}, deadline {deadline_ms}, ended at {row['ended_at']}, as of {row['as_of']}"]
    return []


def _guessed(row: Row, placed_ms: int, gaps: list[tuple[int, int]]) -> list[str]:
    """Of a placement that nobody could see: it may pass for none, else it must lie in the gap that hid it.

    Or it was seen after all, in the moment before the gap, and is told as it was.
    """
    if row["phase"] == "cancelled":
        return []
    at_ms = _ms(row["scheduled_at"]) if row["phase"] == "scheduled" else -1
    if -1 <= at_ms - placed_ms <= SECOND_MS:
        return []
    for begin, end in gaps:
        if all(begin - SLACK_MS <= each <= end + SLACK_MS for each in (at_ms, placed_ms)):
            return []
    return [f"phase {row['phase']} at {at_ms}, placed unseen at {placed_ms}"]


class Placed(NamedTuple):
    """When the last pod that a job needs was bound, as the pods say; None if that never came.

    `unseen`: so many of them were bound and gone within one gap that nobody who looked later could know.
    """

    at_ms: int | None
    unseen: bool = False


def _placed(states: list[State], pods: dict[str, list[State]], gaps: list[tuple[int, int]]) -> Placed:
    job = states[0].object
    own = [found for found in pods.values() if _owner(found[0].object) == job["metadata"]["uid"]]
    bound = [(at, found) for found in own if (at := _bound_at(found)) is not None]
    needed = job["spec"]["parallelism"]
    if len(bound) < needed:
        return Placed(None)
    visible = sum(not _unseen(found[at:], gaps) for at, found in bound)
    times_ms = sorted(_bound_ms(found[at]) or 0 for at, found in bound)
    return Placed(times_ms[needed - 1], visible < needed)


def _owner(pod: dict[str, Any]) -> str:
    return next((owner["uid"] for owner in pod["metadata"].get("ownerReferences", ())), "")


def _bound_at(states: list[State]) -> int | None:
    """Which of a pod's states is the first in which it is bound."""
    return next((n for n, state in enumerate(states) if _bound_ms(state) is not None), None)


def _bound_ms(state: State) -> int | None:
    for condition in state.object.get("status", {}).get("conditions", ()):
        if condition["type"] == "PodScheduled" and condition["status"] == "True":
            return times.parse_ms(condition["lastTransitionTime"])
    return None


def _by_job(rows: list[Row]) -> defaultdict[str, list[Row]]:
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["job_uid"]].append(row)
    return found


def _ms(at: datetime.datetime) -> int:
    return int(at.replace(tzinfo=datetime.UTC).timestamp() * 1000)
