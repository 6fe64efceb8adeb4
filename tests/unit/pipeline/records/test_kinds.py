"""Groups and kinds have one home: nobody else writes the name of an API group."""

from __future__ import annotations

import ast

from pipeline.records import kinds, shapes
from tests.support import source

HOME = "pipeline/records/kinds.py"
NAMED = [each for each in vars(kinds).values() if isinstance(each, kinds.GroupKind)]


def test_a_pair_is_found_under_its_name():
    assert shapes.shape_of("kueue.x-k8s.io", "Workload") is shapes.SHAPES[kinds.KUEUE_WORKLOAD]
    assert str(kinds.KUEUE_WORKLOAD) == "kueue.x-k8s.io/Workload"


def test_every_shape_is_of_a_kind_that_has_a_name():
    assert set(shapes.SHAPES) == set(NAMED)
    assert len(NAMED) == len(set(NAMED))


def test_no_other_module_writes_a_group_or_a_kind_of_one():
    names = {each.group for each in NAMED} - {""} | {str(each) for each in NAMED}
    written = {
        path: {f"{text.lineno} {text.value}" for text in source.nodes(module, ast.Constant) if text.value in names}
        for path, module in source.modules().items()
    }
    assert written.pop(HOME)
    assert not {path: found for path, found in written.items() if found}
