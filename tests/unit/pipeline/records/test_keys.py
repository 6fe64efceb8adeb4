"""Keys of labels and annotations have one home: nobody else writes one."""

from __future__ import annotations

import ast

from collector.kinds import conventions
from pipeline.records import keys, sla
from tests.support import source

NAMED = [each for name, each in vars(keys).items() if name.isupper() and name != "VOLCANO_DEFAULT_QUEUE"]
SHARED = [key for each in NAMED for key in ((each,) if isinstance(each, str) else each)]
PROMISES = [key for key in sla.KEYS if "/" in key]
HOMES = {
    "pipeline/records/keys.py": SHARED,
    "pipeline/records/sla.py": PROMISES,
    "collector/kinds/conventions.py": sorted(conventions.KEPT.difference(SHARED, sla.KEYS)),
}
"""A key without a prefix is also the name of a plug-in's argument."""


def test_the_first_key_that_is_set_says_the_group_and_the_queue():
    first, second = keys.VOLCANO_GROUP
    assert keys.volcano_group({second: "b", first: "a"}) == "a"
    assert keys.volcano_group({second: "b", first: ""}) == "b"
    assert keys.volcano_queue({keys.VOLCANO_QUEUE[1]: "research"}) == "research"
    assert keys.volcano_group({}) == keys.volcano_group(None) == keys.volcano_queue(None) == ""


def test_the_label_says_the_local_queue_before_the_annotation_of_old():
    assert keys.kueue_queue({keys.KUEUE_QUEUE: "a"}, {keys.KUEUE_QUEUE: "b"}) == "a"
    assert keys.kueue_queue(None, {keys.KUEUE_QUEUE: "b"}) == "b"
    assert keys.kueue_queue({"app": "a"}, None) == ""


def test_no_module_writes_a_key_of_another_home():
    written = {
        path: {text.value for text in source.nodes(module, ast.Constant) if isinstance(text.value, str)}
        for path, module in source.modules().items()
    }
    for home, own in HOMES.items():
        assert own
        assert {path for path, found in written.items() if not found.isdisjoint(own)} == {home}


def test_a_key_has_one_name():
    all_ = [key for own in HOMES.values() for key in own]
    assert len(all_) == len(set(all_))
