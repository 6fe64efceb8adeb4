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


def policy_of(settings: Settings) -> Policy:
    """The policy as its file has it now, Volcano's own without one. Raises UserError for one that cannot be used."""
    return _read(settings.policy) if settings.policy is not None else tiers.default(plugins.known())


def machine(settings: Settings, cluster: str, policy: Policy | None = None) -> Machine:
    """A machine that has seen nothing; without a policy by that of the settings. Raises UserError as `policy_of`."""
    known = plugins.known()
    policy = policy or policy_of(settings)
    volcano = Volcano(policy, known)
    deciders: list[Decider] = [volcano, Others()]
    book = Book(volcano, settings.pool_labels) if settings.figures else None
    return Machine(Mirror(cluster, settings.volcano_schedulers), deciders, policy.name, book)


def _read(path: Path) -> Policy:
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
