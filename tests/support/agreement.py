"""How far judged rows agree with what is known about a recording: the recomputed waits, and what its script intended.

`expected.json` is compared job by job: by uid, outcome, cause and number of episodes equal; start and end within the
recording's tolerance; reasons by share of time in each episode, 97 % or all but 1.5 s equal in (reason, resource), after
folding what is expected by rule P17 too. A later episode shorter than 0.1 s may be missing. Where no decision records
are there, `fragmentation` is `insufficient_resource` of the same resource. Deadline, state and violation are equal.

`ground_truth.json` says what the script arranged; where it gives intervals, the share of them in which the intended
reason leads is the figure.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.replayed import Judged

FOLDER = Path(os.environ.get("KC_RECORDINGS", Path(__file__).parents[1] / "recordings"))
SHORT_MS = 1000
Stretch = tuple[str, str | None, int, int]
"""Reason, resource, from, to."""


def recordings() -> list[Path]:
    """The folders that have right answers; none if there is no such folder."""
    return sorted(path.parent for path in FOLDER.glob("*/expected.json"))


def answers(folder: Path) -> dict[str, Any]:
    """The recomputed waits of a recording."""
    found: dict[str, Any] = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    return found


def tolerance_ms(folder: Path) -> int:
    """Volcano's truth has whole seconds; a server that was stopped answers late; else 50 ms."""
    if (folder / "vcjobs.ndjson.gz").exists():
        return 1000
    with gzip.open(folder / "pods.ndjson.gz", "rt", encoding="utf-8") as lines:
        return 500 if any('"reason":"connection"' in line.replace(" ", "") for line in lines) else 50


class Wait(NamedTuple):
    """One judged episode."""

    row: dict[str, Any]
    stretches: list[Stretch]
    violated: bool


def waits_of(judged: Judged, uid: str, end_ms: int) -> list[Wait]:
    """A job's episodes in order; what is open ends at `end_ms`."""
    rows = sorted(
        (row for row in judged.tables.get("job_wait", {}).values() if row["job_uid"] == uid),
        key=lambda row: row["episode"],
    )
    parts = sorted(
        (row for row in judged.tables.get("wait_segment", {}).values() if row["job_uid"] == uid),
        key=lambda row: (row["episode"], row["n"]),
    )
    broken = {
        row["episode"]
        for row in judged.tables.get("sla_violation", {}).values()
        if row["job_uid"] == uid and row["state"] != "withdrawn"
    }
    return [
        Wait(
            row,
            [
                (part["reason"], part["resource"], part["from_at"], end_ms if part["to_at"] is None else part["to_at"])
                for part in parts
                if part["episode"] == row["episode"]
            ],
            row["episode"] in broken,
        )
        for row in rows
    ]


def folded(segments: list[dict[str, Any]], end_ms: int) -> list[Stretch]:
    """Expected segments with the short ones folded (rule P17)."""
    out: list[Stretch] = []
    open_: Stretch | None = None
    for segment in segments:
        to = end_ms if segment["to_ms"] is None else segment["to_ms"]
        reason, resource, start = segment["reason"], segment["resource"], segment["from_ms"]
        if open_ is not None:
            if open_[3] - open_[2] < SHORT_MS:
                start = open_[2]
            else:
                out.append(open_)
        if out and out[-1][:2] == (reason, resource):
            start = out.pop()[2]
        open_ = (reason, resource, start, to)
    if open_ is not None and out and open_[3] - open_[2] < SHORT_MS:
        return [*out[:-1], (*out[-1][:3], open_[3])]
    return out if open_ is None else [*out, open_]


def disagreements(
    expected: dict[str, Any], waits: list[Wait], tolerance: int, end_ms: int, *, exact: bool = False
) -> list[str]:
    """Everything in which a job's judged waits differ from the recomputed ones. `exact`: decision records are there."""
    episodes = expected["episodes"]
    if len(waits) < len(episodes):
        episodes = [one for n, one in enumerate(episodes) if n == 0 or _length(one, end_ms) >= 100]
    if len(waits) != len(episodes):
        return [f"{len(waits)} episodes instead of {len(episodes)}: {[wait.row['cause'] for wait in waits]}"]
    found: list[str] = []
    promises = (expected["sla"] or {}).get("episodes") or []
    for n, (one, wait) in enumerate(zip(episodes, waits, strict=True)):
        said = [*_ends(one, wait, tolerance), *_reasons(one, wait, end_ms, exact=exact)]
        said += _promise(promises[n] if n < len(promises) else None, wait)
        found += [f"episode {n + 1}: {each}" for each in said]
    return found


def _length(episode: dict[str, Any], end_ms: int) -> int:
    to = end_ms if episode["to_ms"] is None else episode["to_ms"]
    return int(to - episode["from_ms"])


def _ends(expected: dict[str, Any], wait: Wait, tolerance: int) -> list[str]:
    row = wait.row
    outcome = "open" if row["phase"] == "waiting" else row["phase"]
    found = []
    if outcome != expected["outcome"]:
        found.append(f"outcome {outcome} instead of {expected['outcome']}")
    if (row["cause"] or None) != expected["cause"]:
        found.append(f"cause {row['cause']!r} instead of {expected['cause']!r}")
    if abs(row["started_at"] - expected["from_ms"]) > tolerance:
        found.append(f"start {row['started_at'] - expected['from_ms']:+d} ms off")
    if outcome == expected["outcome"] != "open" and abs(row["ended_at"] - expected["to_ms"]) > tolerance:
        found.append(f"end {row['ended_at'] - expected['to_ms']:+d} ms off")
    return found


def _reasons(expected: dict[str, Any], wait: Wait, end_ms: int, *, exact: bool) -> list[str]:
    to = end_ms if expected["to_ms"] is None else expected["to_ms"]
    wanted = folded(expected["segments"], to)
    common = sum(
        max(0, min(one[3], other[3]) - max(one[2], other[2]))
        for one in wanted
        for other in wait.stretches
        if (one[:2] == other[:2] if exact else _coarse(one) == _coarse(other))
    )
    total = to - expected["from_ms"]
    if total - common <= 1500 or common >= 0.97 * total:
        return []
    return [f"reasons agree in {common} of {total} ms: {_short(wait.stretches)} instead of {_short(wanted)}"]


def _coarse(stretch: Stretch) -> tuple[str, str | None]:
    reason = "insufficient_resource" if stretch[0] == "fragmentation" else stretch[0]
    return reason, stretch[1]


def _short(stretches: list[Stretch]) -> list[tuple[str, str | None, int]]:
    return [(reason, resource, to - start) for reason, resource, start, to in stretches]


def _promise(expected: dict[str, Any] | None, wait: Wait) -> list[str]:
    got = (wait.row["deadline_at"], wait.row["sla"], wait.violated)
    if expected is None:
        return [] if wait.row["sla"] == "none" and not wait.violated else [f"promise {got} instead of none"]
    wanted = (expected["deadline_ms"], expected["state"], expected["violated"])
    return [] if got == wanted else [f"promise {got} instead of {wanted}"]


class Lead(NamedTuple):
    """How much of the time for which a reason was intended it led."""

    job: str
    reason: str
    intended_ms: int
    led_ms: int


def leads(folder: Path, judged: Judged) -> list[Lead]:
    """Each intended reason that has an interval within a judged wait."""
    truth = json.loads((folder / "ground_truth.json").read_text(encoding="utf-8"))
    aliases = {one["truth_uid"]: one["uid"] for one in answers(folder)["jobs"]}
    end_ms = answers(folder)["end_ms"]
    found = []
    for job in truth["jobs"]:
        for step in job.get("intended", ()):
            if step.get("from_ms") is None or step.get("to_ms") is None:
                continue
            waits = waits_of(judged, aliases.get(job["uid"], job["uid"]), end_ms)
            found.append(_lead(f"{job['namespace']}/{job['name']}", step, waits))
    return [lead for lead in found if lead.intended_ms > 0]


def _lead(job: str, step: dict[str, Any], waits: list[Wait]) -> Lead:
    intended = led = 0
    for reason, _, start, to in (stretch for wait in waits for stretch in wait.stretches):
        common = max(0, min(to, step["to_ms"]) - max(start, step["from_ms"]))
        intended += common
        led += common if _coarse((reason, None, 0, 0)) == _coarse((step["reason"], None, 0, 0)) else 0
    return Lead(job, step["reason"], intended, led)


def table(found: list[Lead]) -> str:
    """The figures by reason: jobs, how many of them lead in 97 % of their time, seconds intended and led."""
    by_reason: dict[str, list[Lead]] = defaultdict(list)
    for lead in found:
        by_reason[lead.reason].append(lead)
    lines = [f"{'reason':24} {'steps':>5} {'lead':>5} {'intended s':>11} {'led s':>8} {'share':>6}"]
    for reason, steps in sorted(by_reason.items()):
        lines.append(_line(reason, steps))
    return "\n".join([*lines, _line("all", found)])


def _line(name: str, steps: list[Lead]) -> str:
    intended, led = sum(step.intended_ms for step in steps), sum(step.led_ms for step in steps)
    whole = sum(step.led_ms >= 0.97 * step.intended_ms for step in steps)
    share = led / intended if intended else 0.0
    return f"{name:24} {len(steps):5} {whole:5} {intended / 1000:11.1f} {led / 1000:8.1f} {share:6.1%}"
