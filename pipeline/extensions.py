"""What is installed: the entry points through which stages, and third parties, plug into the ground floor.

A name in one of the groups below leads to an object that is imported only when it is wanted, so no arrow points up from
the ground floor to a stage and `kube-collector --help` imports none of them. The standard library's reader takes longer
than the whole help may take (it loads an e-mail parser for the metadata of every distribution), so this one looks at
nothing but the `entry_points.txt` files on the path.

    kube_collector.commands   command name   →  module:attr, a typer.Typer or a function
    kube_collector.settings   section name   →  module:Model, a pipeline.config.Section
    kube_collector.stages     start order      →  module:function(Loaded) -> Stage, what `up` runs in one process
    kube_collector.checks     any name       →  module:function(Loaded) -> list[CheckResult], for `doctor`
    kube_collector.sql        any name       →  module:function() -> dict[str, str], statements by name, for `make sql`
    kube_collector.docs       file name      →  module:function() -> str, a page of docs/reference
    kube_collector.explainers any name       →  module:function(Loaded, cluster, JobRef, at_ms) -> list[Decision], what a
                                                scheduler would have decided about a job at a moment, rebuilt from the
                                                log; a UserError says why it cannot be told. The first is asked.
    kube_collector.scheduler_plugins  name in policies  →  module:PluginClass, a scheduler_core.session.plugin.Plugin;
                                                `examples/scheduler-plugin` is one
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from typing import Any, NamedTuple

COMMANDS = "kube_collector.commands"
SETTINGS = "kube_collector.settings"
STAGES = "kube_collector.stages"
CHECKS = "kube_collector.checks"
SQL = "kube_collector.sql"
DOCS = "kube_collector.docs"
EXPLAINERS = "kube_collector.explainers"

OWN = "kube-collector"
"""The distribution whose entry points are the product's own."""


class Extension(NamedTuple):
    """One entry point: `name` in its group, `target` as `module:attr`, and the distribution that brings it."""

    name: str
    target: str
    distribution: str
    version: str

    @property
    def own(self) -> bool:
        return self.distribution == OWN

    def load(self) -> Any:
        """The object itself. Raises ImportError or AttributeError when the distribution is broken."""
        module, _, path = self.target.partition(":")
        found = importlib.import_module(module)
        return functools.reduce(getattr, path.split("."), found) if path else found


@functools.cache
def found(group: str) -> tuple[Extension, ...]:
    """The group's entry points, the product's own first, then by name. Of two with one name the first on the path wins."""
    by_name: dict[str, Extension] = {}
    for folder, text in _entry_point_files(tuple(sys.path)):
        for name, target in _entries(text, group):
            by_name.setdefault(name, Extension(name, target, *_identity(folder)))
    return tuple(sorted(by_name.values(), key=lambda extension: (not extension.own, extension.name)))


@functools.cache
def _entry_point_files(path: tuple[str, ...]) -> list[tuple[str, str]]:
    """(metadata folder, text) of every distribution on the path that has entry points of ours; nearest first."""
    files: dict[str, tuple[str, str]] = {}
    for place in path:
        try:
            folders = [
                entry.path for entry in os.scandir(place or ".") if entry.name.endswith((".dist-info", ".egg-info"))
            ]
        except OSError:
            continue  # zip files and folders that do not exist hold no metadata we could read
        for folder in sorted(folders):
            distribution, _ = _identity(folder)
            text = _read(os.path.join(folder, "entry_points.txt"))  # noqa: PTH118  pathlib costs 15 ms of start-up
            if "kube_collector." in text:
                files.setdefault(distribution, (folder, text))
    return list(files.values())


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return ""


def _identity(folder: str) -> tuple[str, str]:
    """`…/kube_collector-0.1.0.dist-info` is (`kube-collector`, `0.1.0`)."""
    stem = os.path.basename(folder).rsplit(".", 1)[0]  # noqa: PTH119
    name, _, rest = stem.partition("-")
    return name.replace("_", "-").lower(), rest.split("-")[0]


def _entries(text: str, group: str) -> list[tuple[str, str]]:
    entries, inside = [], False
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            inside = line == f"[{group}]"
        elif inside and "=" in line and not line.startswith(("#", ";")):
            name, _, target = line.partition("=")
            entries.append((name.strip(), target.split("[")[0].replace(" ", "")))
    return entries
