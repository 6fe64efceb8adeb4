"""Groups and kinds have one home: nobody else writes the name of an API group."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from pipeline.records import kinds, shapes

ROOT = Path(kinds.__file__).parents[2]
HOME = Path(kinds.__file__)
NAMED = [each for each in vars(kinds).values() if isinstance(each, kinds.GroupKind)]
GROUPS = {each.group for each in NAMED} - {""}


def texts(path: Path) -> Iterator[ast.Constant]:
    """Texts of a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node


def test_a_pair_is_found_under_its_name():
    assert shapes.shape_of("kueue.x-k8s.io", "Workload") is shapes.SHAPES[kinds.KUEUE_WORKLOAD]
    assert str(kinds.KUEUE_WORKLOAD) == "kueue.x-k8s.io/Workload"


def test_every_shape_is_of_a_kind_that_has_a_name():
    assert set(shapes.SHAPES) == set(NAMED)
    assert len(NAMED) == len(set(NAMED))


def test_no_other_module_writes_a_group_or_a_kind_of_one():
    written = GROUPS | {str(each) for each in NAMED}
    packages = [
        folder for folder in ROOT.iterdir() if (folder / "__init__.py").is_file() and folder.name != "benchmarks"
    ]
    modules = [path for folder in packages for path in folder.rglob("*.py") if "node_modules" not in path.parts]
    assert len(modules) > 100
    found = [
        f"{path.relative_to(ROOT)}:{text.lineno} {text.value}"
        for path in modules
        if path != HOME
        for text in texts(path)
        if text.value in written
    ]
    assert not found
