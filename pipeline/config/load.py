"""Files, environment and flags made into one set of typed settings.

Precedence: defaults < files in the order given < environment < flags. Mappings are merged key by key, everything else is
replaced. Every mistake of every source is found in one go and raised together, so a file is mended in one round.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pydantic

from pipeline import extensions
from pipeline.config import environment, files, mistakes, origins, shape
from pipeline.config.fields import Section
from pipeline.config.ground import Ground
from pipeline.config.origins import DEFAULT, KeyPath, Layer, Origin, Problem
from pipeline.errors import ConfigInvalid

S = TypeVar("S", bound=pydantic.BaseModel)


@dataclass(frozen=True)
class Sources:
    """Where settings were read from, so that they can be read again."""

    files: tuple[Path, ...]
    env: Mapping[str, str]
    overrides: Mapping[str, object]
    model: type[Ground]


@dataclass(frozen=True)
class Loaded:
    """Effective settings. `ground` also holds the stages' sections as attributes; `origins` what was not a default."""

    ground: Ground
    origins: Mapping[KeyPath, Origin]
    files: tuple[Path, ...]
    sources: Sources = field(repr=False)  # holds the environment, so secrets

    @property
    def sections(self) -> dict[str, Any]:
        """Every top-level section (and `data_dir`) by name."""
        return {name: getattr(self.ground, name) for name in type(self.ground).model_fields}

    def of(self, model: type[S]) -> S:
        """The section of this type. Raises KeyError when it is not registered."""
        for value in self.sections.values():
            if type(value) is model:
                return value
        raise KeyError(f"{model.__module__}.{model.__qualname__} is no registered section of settings")

    def again(self) -> Loaded:
        """The settings as the same sources give them now. Raises ConfigInvalid."""
        return _load(self.sources)

    def origin(self, path: KeyPath) -> Origin:
        """Where the value at `path` was written, or `DEFAULT`."""
        return self.origins.get(path, DEFAULT)


def load(
    files_: Iterable[Path] = (),
    env: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] | None = None,
    *,
    model: type[Ground] | None = None,
) -> Loaded:
    """The effective settings. `env` is the process's own unless given; `overrides` are values by dotted path.

    Raises ConfigInvalid with all problems, each `file:line:col: path: what`, sorted by place.
    """
    paths = tuple(Path(path) for path in files_)
    env = dict(os.environ if env is None else env)
    return _load(Sources(paths, env, dict(overrides or {}), model or root_model()))


def _load(sources: Sources) -> Loaded:
    paths, problems = files.expand(sources.files)
    layers = [files.read(path, sources.env) for path in paths]
    layers += [environment.from_environment(sources.env), environment.from_overrides(sources.overrides)]
    merged = origins.merge(layers)
    problems += merged.problems
    ground = _validated(sources.model, merged, problems)
    if ground is None or problems:
        raise ConfigInvalid([str(problem) for problem in sorted(problems, key=_by_place)])
    return Loaded(ground, merged.origins, tuple(paths), sources)


def root_model() -> type[Ground]:
    """The model of everything that can be set: the ground floor's sections and those of every stage installed."""
    sections: dict[str, Any] = {}
    for extension in extensions.found(extensions.SETTINGS):
        section = _section(extension)
        if extension.name in Ground.model_fields:
            raise ConfigInvalid([f"{extension.distribution}: the section name {extension.name!r} is taken"])
        sections[extension.name] = (section, pydantic.Field(default_factory=section))
    return pydantic.create_model("Settings", __base__=Ground, __doc__=Ground.__doc__, **sections)


def _section(extension: extensions.Extension) -> type[Section]:
    try:
        section = extension.load()
    except (ImportError, AttributeError) as error:
        raise ConfigInvalid(
            [f"{extension.distribution}: its settings {extension.target} cannot be loaded: {error}"]
        ) from error
    if not (isinstance(section, type) and issubclass(section, Section)):
        raise ConfigInvalid(
            [f"{extension.distribution}: its settings {extension.target} are no pipeline.config.fields.Section"]
        )
    return section


def _validated(root: type[Ground], merged: Layer, problems: list[Problem]) -> Ground | None:
    values = shape.without_unset(merged.values, root)
    try:
        return root.model_validate(values, context={"from_user": True})
    except pydantic.ValidationError as error:
        reported = {problem.path for problem in problems}
        problems += [
            found for found in mistakes.problems(error, root, values, merged.origins) if found.path not in reported
        ]
        return None


def _by_place(problem: Problem) -> tuple[int, str, int, int]:
    kinds = ("file", "env", "flag", "default")
    origin = problem.origin
    return kinds.index(origin.kind), origin.source, origin.line, origin.column
