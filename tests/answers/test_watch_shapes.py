"""Shapes of list and watch input, each with what a correct collector does with it."""

import json
import os
from pathlib import Path

import pytest

from pipeline.errors import Terminal
from pipeline.records import codec, times
from pipeline.records.envelope import EventRecord
from tests.support import shapes

FOLDER = Path(os.environ.get("KC_CASES") or Path(__file__).parent.parent / "cases") / "watch-shapes"


def cases():
    if not (FOLDER / "index.json").exists():
        return []
    return json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))["shapes"]


def absent(outcome, paths):
    """Paths that are nowhere in what was written."""
    written = b"".join(codec.encode(record) for record in outcome.written).decode()
    return [path for path in paths if path.rpartition(".annotations.")[2].rpartition("metadata.")[2] not in written]


def sla_deadline(outcome, *, default=False):
    waits = outcome.waits(default=default)
    at = waits[-1]["deadline_at"] if waits else None
    return None if at is None else times.format_us(at * 1000)


def disrupted(outcome):
    return any(
        condition.type == "DisruptionTarget"
        and condition.status == "True"
        and condition.reason == "PreemptionByScheduler"
        for condition in outcome.shape.status.conditions or ()
    )


def leading(outcome):
    return outcome.segments()[-1]["reason"] if outcome.segments() else None


ANSWERS = {
    "emit": lambda o: len(o.written),
    "drop_dup": lambda o: o.counts.get("duplicates", 0),
    "dead_letter": lambda o: o.dead,
    "ignored": lambda o: o.counts.get("ignored", 0),
    "suppressed": lambda o: o.counts.get("suppressed", 0),
    "checkpoint_rv": lambda o: o.version,
    "list_rv": lambda o: next(h.version for h in o.happenings if getattr(h, "last", False)),
    "action": lambda o: o.action,
    "gap_record": lambda o: len(o.gaps) == 1,
    "occurrences": lambda o: o.occurrences(),
    "event_time": lambda o: times.format_us(o.data.at_us),
    "component": lambda o: o.data.component,
    "time_source": lambda o: o.data.time_source,
    "time_anomaly": lambda o: o.data.time_anomaly,
    "aggregated": lambda o: o.data.aggregated,
    "lossy": lambda o: o.data.lossy,
    "truncated": lambda o: o.data.truncated,
    "message": lambda o: o.data.message if isinstance(o.written[-1], EventRecord) else o.texts()[-1],
    "reason": lambda o: o.data.reason,
    "type": lambda o: o.data.type,
    "count": lambda o: o.data.count,
    "change": lambda o: o.data.change,
    "synthetic": lambda o: o.data.synthetic,
    "involved": lambda o: o.data.regarding,
    "involved_kind": lambda o: o.data.regarding.kind,
    "involved_name": lambda o: o.data.regarding.name,
    "involved_namespace": lambda o: o.data.regarding.namespace,
    "involved_uid": lambda o: o.data.regarding.uid,
    "identity": lambda o: "surrogate" if o.data.surrogate else "uid",
    "redacted": lambda o: list(o.data.redacted),
    "start_observed": lambda o: o.data.start_observed,
    "ready": lambda o: o.shape.ready,
    "nominated": lambda o: o.shape.status.nominated_node_name,
    "preempted": disrupted,
    "waiting": lambda o: bool(o.waits()) and o.waits()[-1]["phase"] == "waiting",
    "wait_interval": lambda o: len(o.waits()),
    "leading": leading,
    "reasons": lambda o: o.said(),
    "reason_segments": lambda o: len(o.segments()),
    "sla_deadline": sla_deadline,
    "sla_deadline_with_default_1h": lambda o: sla_deadline(o, default=True),
    "config_problem": lambda o: any(row["misconfigured"] for row in o.waits()),
    "phase": lambda o: o.waits()[-1]["phase"],
    "cause": lambda o: o.waits()[-1]["cause"],
    "minimum": lambda o: o.waits()[-1]["minimum"],
    "tasks": lambda o: o.waits()[-1]["tasks"],
    "gpus": lambda o: o.waits()[-1]["gpus"],
    "queue": lambda o: o.waits()[-1]["queue"],
    "sla": lambda o: o.waits()[-1]["sla"],
    "wait_start": lambda o: times.format_us(o.waits()[-1]["started_at"] * 1000),
    "wait_end": lambda o: times.format_us(o.waits()[-1]["ended_at"] * 1000),
}
"""Every key that a case may expect, and where its answer is found. A key that is not here fails the case."""

AS_SETS = {"reasons"}


@pytest.mark.skipif(not cases(), reason=f"no shapes of watches: {FOLDER} is missing")
@pytest.mark.parametrize("case", cases(), ids=lambda case: case["file"].removesuffix(".json"))
def test_a_shape_has_the_outcome_that_a_correct_collector_gives_it(case):
    given = json.loads((FOLDER / case["file"]).read_text(encoding="utf-8"))
    outcome = shapes.run(given, case["family"], case["expect"].get("list_rv"))
    found = {}
    for key, wanted in case["expect"].items():
        if key == "absent":
            found[key] = absent(outcome, wanted)
        elif key not in ANSWERS:
            pytest.fail(f"the runner does not know the key {key!r}; give ANSWERS a way to find it")
        else:
            found[key] = ANSWERS[key](outcome)
    wanted = {key: sorted(value) if key in AS_SETS else value for key, value in case["expect"].items()}
    assert found == wanted, case["must"]


def test_the_cases_are_there_or_said_to_be_missing():
    assert cases() or not (FOLDER / "index.json").exists()


def test_an_unknown_container_is_refused():
    with pytest.raises((ValueError, Terminal), match="not know"):
        shapes.run({"smoke": []}, "pod")
