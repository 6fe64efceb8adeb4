"""The project's own source, for rules that every module keeps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)
ROOT = Path(__file__).parents[2]
PACKAGES = ("aggregation", "collector", "dashboards", "pipeline", "scheduler_core", "sinks")


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the packages, by its path from the root."""
    paths = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8"))
        for path in paths
        if "node_modules" not in path.parts
    }


def nodes(of: ast.AST, kind: type[Node]) -> Iterator[Node]:
    """The parts of a tree that are of a kind."""
    return (node for node in ast.walk(of) if isinstance(node, kind))
