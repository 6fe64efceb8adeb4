"""Settings of a process that plays a recording: what `up --replay` and `replay` have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pipeline.cli import options
from pipeline.config.load import Loaded
from pipeline.config.origins import DEFAULT

SUFFIX = "@replay"


def settings(
    folder: Path,
    speed: str,
    config: Iterable[Path] | None,
    sets: Iterable[str] | None,
    flags: Mapping[str, object] | None = None,
) -> Loaded:
    """The settings with the recording in them. The cluster is called NAME@replay, after the folder unless it has a name."""
    given = options.settings(config, sets, flags)
    name = given.ground.cluster.name
    if given.origin(("cluster", "name")) == DEFAULT:
        name = folder.resolve().name
    name = name.removesuffix(SUFFIX) + SUFFIX
    more = {"cluster.name": name, "collector.replay": str(folder), "collector.speed": speed}
    others = [each for each in sets or () if each.partition("=")[0].strip() != "cluster.name"]  # its name is in `more`
    return options.settings(config, others, {**(flags or {}), **more})
