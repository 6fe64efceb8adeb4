"""The reasons that are told of kube-scheduler's pods, beside those that a recording's script had arranged.

At every whole second all waiting pods are explained from what had arrived by then. A step of the script is one job, the
reason it was set up to wait for, and from when to when. Of its seconds those count in which a pod of the job waits: a job
that is held back before it has pods is not this scheduler's. A job's reason is that of most of its waiting pods.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.records import jobs
from pipeline.records.decisions import Decision
from pipeline.records.envelope import ObjectRecord
from scheduler_core import foreign
from scheduler_core.cache.mirror import Mirror
from tests.support import agreement, replayed

_SETTLE_S = 3
_SECOND_MS = 1000


class Step(NamedTuple):
    """A step of the script: its job, reason and resource, and the seconds by what was told in them."""

    job: str
    reason: str
    resource: str | None
    told: Counter[tuple[str, str | None]]

    @property
    def seconds(self) -> int:
        return self.told.total()

    @property
    def agreeing(self) -> int:
        return sum(
            seconds
            for (reason, resource), seconds in self.told.items()
            if reason == self.reason and (self.resource is None or resource == self.resource)
        )


def steps(folder: Path) -> list[Step]:
    """All steps that have an interval."""
    truth = json.loads((folder / "ground_truth.json").read_text(encoding="utf-8"))
    names = {one["truth_uid"]: {one["uid"], _placeholder(one["job"])} for one in agreement.answers(folder)["jobs"]}
    sessions = list(_sessions(folder, truth["start_ms"], truth["end_ms"]))
    return [
        Step(f"{job['namespace']}/{job['name']}", step["reason"], step.get("resource"), _told(sessions, uids, step))
        for job in truth["jobs"]
        for uids in [names.get(job["uid"], {job["uid"]})]
        for step in job.get("intended", ())
        if step.get("from_ms") is not None and step.get("to_ms") is not None
    ]


def _placeholder(job: str) -> str:
    """The uid of a job of this name before its object exists."""
    namespace, name = job.split("/")[-2:]
    return jobs.placeholder_uid(namespace, name)


def _sessions(folder: Path, start_ms: int, end_ms: int) -> Iterator[tuple[int, list[Decision]]]:
    log = [each.record for each in replayed.log_of(folder)]
    objects = [record for record in log if isinstance(record, ObjectRecord)]
    mirror, place = Mirror(folder.name), 0
    for second in range(start_ms // _SECOND_MS + _SETTLE_S, end_ms // _SECOND_MS):
        now_ms = second * _SECOND_MS
        while place < len(objects) and objects[place].observedms <= now_ms:
            mirror.apply(objects[place])
            place += 1
        yield now_ms, foreign.decide(mirror, now_ms)


def _told(
    sessions: list[tuple[int, list[Decision]]], uids: set[str], step: dict[str, Any]
) -> Counter[tuple[str, str | None]]:
    found: Counter[tuple[str, str | None]] = Counter()
    for now_ms, decisions in sessions:
        if step["from_ms"] <= now_ms < step["to_ms"]:
            told = Counter(
                (each.reason or "", each.resource)
                for each in decisions
                if each.job is not None and each.job.uid in uids
            )  # fmt: skip
            if told:
                found[told.most_common(1)[0][0]] += 1
    return found


def table(found: Iterable[Step]) -> str:
    """By reason: steps, those in which pods wait, the seconds of these, and in how many the reason is told."""
    by_reason: dict[str, list[Step]] = defaultdict(list)
    for step in found:
        by_reason[step.reason].append(step)
        by_reason["~all"].append(step)
    lines = [f"{'intended reason':24} {'steps':>6} {'with pods':>10} {'seconds':>8} {'agree':>6} {'share':>7}"]
    for reason, of in sorted(by_reason.items()):
        seconds, agreeing = sum(step.seconds for step in of), sum(step.agreeing for step in of)
        share = f"{agreeing / seconds:7.1%}" if seconds else "      -"
        with_pods = sum(step.seconds > 0 for step in of)
        lines.append(f"{reason.strip('~'):24} {len(of):6} {with_pods:10} {seconds:8} {agreeing:6} {share}")
    return "\n".join(lines)
