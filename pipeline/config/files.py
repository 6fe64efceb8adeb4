"""Reads YAML files into layers: values, the line and column of every key, and every mistake in them.

The node tree is walked instead of loading the file, since only nodes know where they stand. Scalars follow YAML 1.2's
core rules as far as people rely on them: a date is text, `12:30` is text and `on` is text, as in JSON. `${VAR}` is put in
after parsing, so what a variable holds can never become structure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from pipeline.config import origins
from pipeline.config.origins import KeyPath, Layer, Origin, Problem

MOST_VALUES = 100_000
"""Values of one file, each counted as often as aliases put it somewhere: of ten lines of aliases can come billions."""
_VARIABLE = re.compile(r"(\$\$\{)|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\})?")
_NULL = re.compile(r"~|null|Null|NULL")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+")
_MOST_DIGITS = 4000
"""Of a whole number; Python reads hardly more. What is longer stays text, and is refused where a number is meant."""
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


def expand(paths: Iterable[Path]) -> tuple[list[Path], list[Problem]]:
    """The files to read, in order: a folder stands for its `*.yaml` and `*.yml`, sorted by name."""
    files: list[Path] = []
    problems = []
    for path in paths:
        if path.is_dir():
            files += sorted(inner for inner in path.iterdir() if inner.suffix in {".yaml", ".yml"} and inner.is_file())
        elif path.exists():
            files.append(path)
        else:
            problems.append(Problem(Origin("file", str(path)), (), "no such file"))
    return files, problems


def read(path: Path, env: Mapping[str, str]) -> Layer:
    """The file's layer; a file that cannot be read or parsed is an empty layer with its problem."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        return Layer({}, {}, [Problem(Origin("file", str(path)), (), f"cannot be read: {reason}")])
    return parse(text, str(path), env)


def parse(text: str, name: str, env: Mapping[str, str]) -> Layer:
    """The layer of a YAML text; `name` stands for the file in places."""
    reader = _Reader(name, env)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        reader.syntax(error)
        root = None
    except yaml.reader.ReaderError as error:
        line, column = text.count("\n", 0, error.position) + 1, error.position - text.rfind("\n", 0, error.position)
        what = f'not YAML: the character #{error.character:04x} is not allowed (write it as "\\u{error.character:04x}")'
        reader.problems.append(Problem(Origin("file", name, line, column), (), what))
        root = None
    except RecursionError:
        reader.problems.append(Problem(Origin("file", name), (), "not YAML that can be meant: the nesting is too deep"))
        root = None
    try:
        values = reader.value(root, ()) if root is not None else {}
    except RecursionError:
        reader.report(root, (), "an anchor contains itself, or the nesting is too deep")
        values = {}
    except _TooMany:
        reader.report(root, (), f"its aliases make more than {MOST_VALUES} values of it; write them out, or fewer")
        values = {}
    if values is origins.UNSET or values is None:
        values = {}
    if not isinstance(values, dict):
        reader.report(root, (), "must be a mapping of sections, such as `log: {level: info}`")
        values = {}
    return Layer(values, reader.origins, reader.problems)


class _TooMany(Exception):
    """There are more values than anybody means."""


class _Reader:
    """Walks one node tree."""

    def __init__(self, name: str, env: Mapping[str, str]) -> None:
        self.name = name
        self.env = env
        self.origins: dict[KeyPath, Origin] = {}
        self.problems: list[Problem] = []
        self._values = 0

    def place(self, mark: yaml.Mark | None) -> Origin:
        return Origin("file", self.name, mark.line + 1, mark.column + 1) if mark else Origin("file", self.name)

    def report(self, node: yaml.Node | None, path: KeyPath, what: str) -> None:
        self.problems.append(Problem(self.place(node.start_mark if node else None), path, what))

    def syntax(self, error: yaml.MarkedYAMLError) -> None:
        context = f" {error.context}" if error.context else ""
        if "'\\t'" in (error.problem or ""):
            context += " (indent with spaces)"
        self.problems.append(
            Problem(self.place(error.problem_mark or error.context_mark), (), f"not YAML: {error.problem}{context}")
        )

    def count(self) -> None:
        """One more value."""
        self._values += 1
        if self._values > MOST_VALUES:
            raise _TooMany

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        self.count()
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.item(inner, (*path, at)) for at, inner in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)
        return self.scalar(node, path)

    def item(self, node: yaml.Node, path: KeyPath) -> Any:
        self.origins[path] = self.place(node.start_mark)
        value = self.value(node, path)
        return None if value is origins.UNSET else value

    def mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                merged |= self.merged(value_node, path)
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                self.report(key_node, path, "a key must be plain text")
                continue
            here = (*path, key_node.value)
            if key_node.value in values:
                self.report(key_node, here, f"given twice (first in line {self.origins[here].line})")
                continue
            self.origins[here] = self.place(key_node.start_mark)
            values[key_node.value] = self.value(value_node, here)
        return merged | values

    def merged(self, node: yaml.Node, path: KeyPath) -> dict[str, Any]:
        """The values of `<<: *anchor`; of several, the earlier one wins."""
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        values: dict[str, Any] = {}
        for inner in reversed(nodes):
            self.count()
            if isinstance(inner, yaml.MappingNode):
                values |= self.mapping(inner, path)
            else:
                self.report(inner, path, "`<<` takes a mapping or a list of mappings")
        return values

    def scalar(self, node: yaml.ScalarNode, path: KeyPath) -> Any:
        if not node.tag.startswith("tag:yaml.org,2002:"):
            self.report(node, path, f"the tag {node.tag} is not supported")
            return None
        plain = node.style not in {"'", '"', "|", ">"}
        if "${" in node.value:  # what a variable holds is text, as in the environment itself
            return self.with_variables(node, path) or (origins.UNSET if plain else "")
        return _plain(node.value) if plain else node.value

    def with_variables(self, node: yaml.ScalarNode, path: KeyPath) -> str:
        def put_in(match: re.Match[str]) -> str:
            escaped, name, default = match.groups()
            if escaped:
                return "${"
            if name is None:
                self.report(node, path, "`${` must be `${NAME}` or `${NAME:-default}` (write `$${` for the characters)")
                return match[0]
            value = self.env.get(name) or default
            if value is None and name not in self.env:
                fix = f"write ${{{name}:-default}} if it may be absent"
                self.report(node, path, f"the environment variable {name} is not set ({fix})")
            return value or ""

        return _VARIABLE.sub(put_in, node.value)


def _plain(text: str) -> Any:
    """What an unquoted scalar means."""
    if text == "":
        return origins.UNSET
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text[0] in "tT"
    if _INT.fullmatch(text):
        return int(text) if len(text) <= _MOST_DIGITS else text
    return float(text) if _FLOAT.fullmatch(text) else text
