"""The shadow as the settings want it: a mirror, and one decider for each kind of scheduler."""

from __future__ import annotations

import functools
from pathlib import Path

from pipeline.errors import UserError
from pipeline.telemetry import logs
from scheduler_core import plugins, tiers
from scheduler_core.cache.mirror import Mirror
from scheduler_core.model.policy import Policy
from scheduler_core.settings import Settings
from scheduler_core.shadow.figures import Book
from scheduler_core.shadow.machine import Decider, Machine
from scheduler_core.shadow.others import Others
from scheduler_core.shadow.volcano import Volcano

log = logs.get(__name__)


def machine(settings: Settings, cluster: str) -> Machine:
    """A machine that has seen nothing. Raises UserError for a policy that cannot be used."""
    known = plugins.known()
    policy = _policy(settings.policy) if settings.policy is not None else tiers.default(known)
    volcano = Volcano(policy, known)
    deciders: list[Decider] = [volcano, Others()]
    book = Book(volcano, settings.pool_labels) if settings.figures else None
    return Machine(Mirror(cluster, settings.volcano_schedulers), deciders, policy.name, book)


def _policy(path: Path) -> Policy:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"the policy cannot be read: {error}", where=str(path), fix="Name a file with a policy of Volcano's form."
        ) from error
    parsed = tiers.parse(text, path.name, plugins.known())
    for warning in parsed.warnings:
        _warn(warning)
    return parsed.policy


@functools.cache
def _warn(warning: str) -> None:
    """Once a process: the policy is read again for every look into the past."""
    log.warning("policy_doubtful", warning=warning)
