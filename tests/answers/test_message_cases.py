"""Every line of `messages/*.jsonl` in the folder of cases: a real text and what it says.

Category, resource and count of each reason must be right, and the number of nodes; `detail` is free.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from aggregation import messages

FOLDER = Path(os.environ.get("KC_CASES") or Path(__file__).parents[1] / "cases") / "messages"


def _cases() -> list[Any]:
    return [
        pytest.param(json.loads(line), id=f"{path.stem}-{number}")
        for path in sorted(FOLDER.glob("*.jsonl"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if line.strip()
    ]


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no messages: {FOLDER} is missing")
@pytest.mark.parametrize("case", _cases())
def test_the_text_says_what_the_case_says(case: dict[str, Any]) -> None:
    message = messages.parse(case["message"])
    expected = case["expected"]

    got = Counter((one.category, one.resource, one.nodes) for one in message.reasons)
    assert got == Counter((one["category"], one["resource"], one["nodes"]) for one in expected["reasons"])
    assert message.total_nodes == expected["total_nodes"]
