"""The policy file: Volcano's own `volcano-scheduler.conf`, pasted unchanged, or the ConfigMap that holds it.

    actions: "enqueue, allocate, backfill"
    tiers:
    - plugins:
      - name: priority
      - name: gang
        enablePreemptable: false
    configurations:
    - name: allocate
      arguments: {predicateErrorCacheEnable: true}

Beyond Volcano a file may say `all_abstain: reject`: a vote in which nobody permits then fails.

Volcano ignores in silence what it does not know: a flag in the wrong one of its three spellings, an argument with a slip.
Here every such key is warned about with its line and what was probably meant, flags count in either spelling, and so do
combinations that cannot have an effect (`advice`). What Volcano refuses is an error, and all errors come together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pipeline.config import files, origins
from pipeline.config.origins import KeyPath, Origin, Problem
from pipeline.config.suggest import did_you_mean
from pipeline.errors import ConfigInvalid
from scheduler_core import actions, advice
from scheduler_core.model.policy import FLAGS, PluginChoice, Policy
from scheduler_core.session.plugin import Plugin

CONFIG_MAP_KEY = "volcano-scheduler.conf"
DEFAULT = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
"""
"""What Volcano does without a file."""

_SECTIONS = ("actions", "tiers", "configurations", "metrics", "all_abstain")
_ENABLED = frozenset({
    "clusterOrder", "victim", "overused", "allocatable", "hyperNodeOrder", "hyperNodeGradient", "subJobReady",
    "subJobPipelined", "subJobOrder",
})  # fmt: skip
"""Flags that Volcano reads only as `enabled…`; the others it reads only as `enable…`."""
_TRUTH = {**dict.fromkeys(("true", "yes", "on", "y"), True), **dict.fromkeys(("false", "no", "off", "n"), False)}

_OTHER_PLUGINS = frozenset({
    "cdp", "deviceshare", "extender", "nodegroup", "numaaware", "pdb", "rescheduling", "resource-strategy-fit",
    "resourcequota", "task-topology", "tdm", "usage", "volume-binding",
})  # fmt: skip
_OTHER_ACTIONS = frozenset({"elect", "reserve", "shuffle", "gangpreempt", "gangreclaim"})


class Parsed(NamedTuple):
    """A policy and what should be said about its file, as whole lines in the order of the file."""

    policy: Policy
    warnings: list[str]


def parse(text: str, name: str, known: Mapping[str, type[Plugin]]) -> Parsed:
    """The policy of a file's text; `name` stands for the file in places, `known` are all plugins there are.

    Raises ConfigInvalid with every error.
    """
    layer = files.parse(text, name, {})
    inner = _inner(layer.values)
    if inner is not None:
        return parse(inner, f"{name}({CONFIG_MAP_KEY})", known)
    if layer.problems:
        raise _invalid(layer.problems)
    reader = _Reader(name, layer, known)
    policy = reader.policy()
    if reader.errors:
        raise _invalid(sorted(reader.errors, key=_by_place))
    reader.warnings += (reader.problem(path, what) for path, what in advice.of(policy, reader.paths))
    return Parsed(policy, [str(each) for each in sorted(reader.warnings, key=_by_place)])


def _invalid(problems: Iterable[Problem]) -> ConfigInvalid:
    return ConfigInvalid(
        [str(each) for each in problems],
        of="the policy",
        fix="A policy has `actions`, and `tiers` of `plugins` with their `arguments`, as Volcano's volcano-scheduler.conf has.",
    )


def default(known: Mapping[str, type[Plugin]]) -> Policy:
    """Volcano's policy when there is no file."""
    return parse(DEFAULT, "default", known).policy


def _inner(values: Mapping[str, Any]) -> str | None:
    """The file inside a ConfigMap."""
    data = values.get("data")
    found = data.get(CONFIG_MAP_KEY) if isinstance(data, dict) and "tiers" not in values else None
    return found if isinstance(found, str) else None


def _by_place(problem: Problem) -> tuple[int, int]:
    return problem.origin.line, problem.origin.column


class _Reader:
    """Walks the values of one file."""

    def __init__(self, name: str, layer: origins.Layer, known: Mapping[str, type[Plugin]]) -> None:
        self.name = name
        self.layer = layer
        self.known = known
        self.errors: list[Problem] = []
        self.warnings: list[Problem] = []
        self.paths: list[list[KeyPath]] = []

    def problem(self, path: KeyPath, what: str) -> Problem:
        place = origins.nearest(self.layer.origins, path)
        return Problem(Origin("file", self.name, 1, 1) if place is origins.DEFAULT else place, path, what)

    def error(self, path: KeyPath, what: str) -> None:
        self.errors.append(self.problem(path, what))

    def warn(self, path: KeyPath, what: str) -> None:
        self.warnings.append(self.problem(path, what))

    def policy(self) -> Policy:
        values = self.layer.values
        for key in values:
            if key not in _SECTIONS:
                self.warn((key,), f"unknown section, ignored{did_you_mean(key, _SECTIONS)}")
        return Policy(
            name=self.name,
            actions=tuple(self.actions(values.get("actions"))),
            tiers=tuple(self.tiers(values.get("tiers"))),
            action_arguments=dict(self.configurations(values.get("configurations"))),
            all_abstain=self.all_abstain(values.get("all_abstain")),
        )

    def all_abstain(self, value: Any) -> bool:
        if value in (None, origins.UNSET, "permit", "reject"):
            return bool(value != "reject")
        self.error(("all_abstain",), f"must be permit or reject, not {value!r}")
        return True

    # --- actions -----------------------------------------------------------------------------------------------------

    def actions(self, value: Any) -> Iterator[str]:
        if not isinstance(value, str):
            what = "missing" if value in (None, origins.UNSET) else "must be text, names with commas between"
            self.error(("actions",), f'{what}, such as "enqueue, allocate, backfill"')
            return
        for part in value.split(","):
            name = part.strip()
            if name in actions.ALL:
                yield name
            elif name in _OTHER_ACTIONS:
                self.warn(("actions",), f"the action {name} is not built here; it is left out")
            else:
                what = f"there is no action {name!r}" if name else "an action's name is missing (a comma too many?)"
                self.error(("actions",), what + did_you_mean(name, actions.ALL))

    def configurations(self, value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for at, each in self._list(("configurations",), value):
            path: KeyPath = ("configurations", at)
            for key in each:
                if key not in ("name", "arguments"):
                    self.warn((*path, key), f"unknown key, ignored{did_you_mean(key, ('name', 'arguments'))}")
            name = each.get("name")
            if not isinstance(name, str) or name not in actions.ALL:
                self.warn((*path, "name"), f"no action {name!r}{did_you_mean(str(name), actions.ALL)}; ignored")
                continue
            yield name, self.arguments((*path, "arguments"), each.get("arguments"), actions.ARGUMENTS[name])

    # --- tiers -------------------------------------------------------------------------------------------------------

    def tiers(self, value: Any) -> Iterator[tuple[PluginChoice, ...]]:
        if value in (None, origins.UNSET):
            self.error(("tiers",), "missing: a list of tiers, each with its plugins")
        for at, tier in self._list(("tiers",), value):
            for key in tier:
                if key != "plugins":
                    self.warn(("tiers", at, key), f"unknown key, ignored{did_you_mean(key, ('plugins',))}")
            self.paths.append([])
            choices = []
            for place, each in self._list(("tiers", at, "plugins"), tier.get("plugins")):
                choice = self.plugin(("tiers", at, "plugins", place), each)
                if choice is not None:
                    choices.append(choice)
                    self.paths[-1].append(("tiers", at, "plugins", place))
            self._clash(("tiers", at), choices)
            yield tuple(choices)

    def plugin(self, path: KeyPath, value: Mapping[str, Any]) -> PluginChoice | None:
        name = value.get("name")
        if not isinstance(name, str) or not name:
            self.error(path, "a plugin needs a name")
            return None
        if name not in self.known:
            why = "is not built here" if name in _OTHER_PLUGINS else "is not known"
            self.warn((*path, "name"), f"the plugin {name} {why}; it is left out{did_you_mean(name, self.known)}")
            return None
        given = self.arguments((*path, "arguments"), value.get("arguments"), self.known[name].arguments_known)
        return PluginChoice(name, frozenset(self.flags(path, value)), given)

    def flags(self, path: KeyPath, value: Mapping[str, Any]) -> Iterator[str]:
        """Flags that are on. Of one flag in both spellings Volcano's own counts."""
        found: dict[str, bool] = {}
        for key, setting in value.items():
            if key in ("name", "arguments"):
                continue
            flag = _flag_of(key)
            if flag is None:
                self.warn((*path, key), f"unknown key, ignored{did_you_mean(key, _spellings())}")
                continue
            own = key == _own_spelling(flag)
            if not own:
                self.warn((*path, key), f"Volcano reads this flag only as {_own_spelling(flag)}; taken as meant")
            if own or flag not in found:
                found[flag] = self._truth((*path, key), setting, default=FLAGS[flag])
        yield from (flag for flag, default_on in FLAGS.items() if found.get(flag, default_on))

    def _truth(self, path: KeyPath, value: Any, *, default: bool) -> bool:
        if isinstance(value, bool):
            return value
        if value in (None, origins.UNSET):
            return default
        found = _TRUTH.get(str(value).lower())
        if found is None:
            self.error(path, f"must be true or false, not {value!r}")
            return default
        return found

    def arguments(self, path: KeyPath, value: Any, known: tuple[str, ...]) -> Mapping[str, Any]:
        """Arguments as they stand; slips in their names are warned about."""
        if value in (None, origins.UNSET):
            return {}
        if not isinstance(value, dict):
            self.error(path, "must be a mapping")
            return {}
        for key in value:
            if not any(key == each or (each.endswith("*") and key.startswith(each[:-1])) for each in known):
                meant = did_you_mean(key, known) or (f" (there are {', '.join(known)})" if known else "")
                self.warn((*path, key), f"unknown argument, ignored{meant}")
        return {key: None if each is origins.UNSET else each for key, each in value.items()}

    def _clash(self, path: KeyPath, choices: list[PluginChoice]) -> None:
        names = {choice.name: choice for choice in choices}
        drf = names.get("drf")
        if drf is not None and "hierarchy" in drf.enabled and "proportion" in names:
            self.error(path, "drf with hierarchy and proportion exclude each other in one tier")

    def _list(self, path: KeyPath, value: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
        if value in (None, origins.UNSET):
            return
        if not isinstance(value, list):
            self.error(path, "must be a list")
            return
        for at, each in enumerate(value):
            if isinstance(each, dict):
                yield at, each
            else:
                self.error((*path, at), "must be a mapping")


def _flag_of(key: str) -> str | None:
    for prefix in ("enabled", "enable"):
        if key.startswith(prefix):
            flag = key[len(prefix) :]
            flag = flag[:1].lower() + flag[1:]
            if flag in FLAGS:
                return flag
    return None


def _own_spelling(flag: str) -> str:
    return ("enabled" if flag in _ENABLED else "enable") + flag[:1].upper() + flag[1:]


def _spellings() -> list[str]:
    return [_own_spelling(flag) for flag in FLAGS]
