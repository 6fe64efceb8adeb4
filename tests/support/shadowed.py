"""A recording's log with the shadow scheduler's decisions in it, as `up` would write it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from scheduler_core import plugins, tiers
from scheduler_core.cache.mirror import Mirror
from scheduler_core.shadow import others
from scheduler_core.shadow.machine import Machine
from scheduler_core.shadow.volcano import Volcano
from tests.support.replayed import Logged


def log_of(log: Sequence[Logged], folder: Path) -> list[Logged]:
    """The log with each session's decisions at the moment that log time passes its second."""
    machine = Machine(Mirror(folder.name), [Volcano(policy_of(folder), plugins.ALL), others.Others()], "recorded")
    found: list[Logged] = []
    for stamp, record in log:
        due = machine.due(stamp)
        if due is not None:
            found += (Logged(stamp, decision) for decision in machine.decide(due))
        if record is not None:
            machine.take(record)
        found.append(Logged(stamp, record))
    return found


def policy_of(folder: Path) -> tiers.Policy:
    """The policy that Volcano ran with, where the recording's ground truth has it; else its default."""
    truth = json.loads((folder / "ground_truth.json").read_text(encoding="utf-8"))
    return tiers.parse(truth.get("policy") or tiers.DEFAULT, "recorded", plugins.ALL).policy
