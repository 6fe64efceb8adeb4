"""What a check of `doctor` is, and the checks of the ground floor: settings, disk, time zone.

A stage brings its own by an entry point of the group `kube_collector.checks`: a function from the effective settings to a list
of results. A check asks the outside world with a time limit of its own and never raises for what it finds.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zoneinfo
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

from pipeline import clock
from pipeline.config import sizes
from pipeline.config.load import Loaded

CATEGORIES = ("config", "cluster", "prometheus", "kafka", "doris", "disk", "pipeline", "time")
"""In the order in which they are shown; others follow by name."""

_LEAST_FREE_BYTES = 2 * 2**30
"""A quiet day of a thousand-node cluster in the spool is about 1 GiB."""
_SLOW_FSYNC_MS = 50.0
"""The spool writes a batch about ten times a second and waits for each."""

Outcome = Literal["ok", "warn", "fail"]


class CheckResult(NamedTuple):
    """One finding. `cause` says what was seen, also when all is well; `fix` what to do, when something is not."""

    category: str
    name: str
    outcome: Outcome
    cause: str = ""
    fix: str = ""


def own(loaded: Loaded) -> list[CheckResult]:
    """The checks of the ground floor."""
    return [_settings(loaded), *_disk(loaded.ground.data_dir), _zone()]


def _settings(loaded: Loaded) -> CheckResult:
    read = ", ".join(str(path) for path in loaded.files)
    cause = f"valid, from {read}" if read else "valid; no file, so defaults, environment and options"
    return CheckResult("config", "settings", "ok", cause)


def _disk(folder: Path) -> list[CheckResult]:
    """Whether the data folder can be written, has room, and is fast enough. Nothing is left behind, no folder is made."""
    place = next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())
    try:
        took_ms = _fsync_ms(place)
        free_bytes = shutil.disk_usage(place).free
    except OSError as error:
        cause = f"{place} cannot be written: {error.strerror or error}"
        fix = "Give this user the folder, or name one that it may write with --set data_dir=PATH."
        return [CheckResult("disk", "data folder", "fail", cause, fix)]
    found = "can be written" if folder.exists() else f"can be made in {place}"
    return [CheckResult("disk", "data folder", "ok", f"{folder} {found}"), _room(free_bytes), _speed(took_ms, folder)]


def _room(free_bytes: int) -> CheckResult:
    free = f"{free_bytes / 2**30:.1f} GiB free"
    if free_bytes < _LEAST_FREE_BYTES:
        return CheckResult(
            "disk",
            "free space",
            "warn",
            free,
            f"Free {sizes.format_bytes(_LEAST_FREE_BYTES)}, or lower the spool's limit.",
        )
    return CheckResult("disk", "free space", "ok", free)


def _speed(took_ms: float, folder: Path) -> CheckResult:
    took = f"a write reaches the disk in {took_ms:.1f} ms"
    if took_ms > _SLOW_FSYNC_MS:
        fix = (
            f"Keep the data ({folder} now; --set data_dir=PATH) on a local disk; network disks are often slow to sync."
        )
        return CheckResult("disk", "write speed", "warn", took, fix)
    return CheckResult("disk", "write speed", "ok", took)


def _fsync_ms(folder: Path) -> float:
    """Median time of five small writes that are waited for, in a file that is gone afterwards."""
    taken_ms = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(5):
            began_s = clock.monotonic_s()
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
            taken_ms.append((clock.monotonic_s() - began_s) * 1000)
    return sorted(taken_ms)[2]


def _zone() -> CheckResult:
    """The zone that times are shown in: where the name is not known, the C library silently takes UTC."""
    wanted = os.environ.get("TZ", "").lstrip(":")
    try:
        if "/" in wanted and not wanted.startswith("/"):
            zoneinfo.ZoneInfo(wanted)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        cause = f"TZ={wanted} is not known here, so times are shown in UTC"
        return CheckResult("time", "time zone", "warn", cause, "Install the system's tzdata, or correct TZ.")
    local = datetime.now().astimezone()
    return CheckResult("time", "time zone", "ok", f"times are shown in {local.tzname()} ({local:%z}); --utc shows UTC")
