"""Which job `schedule --at --job` means."""

from __future__ import annotations

import pytest

from pipeline.errors import NotFound
from scheduler_core.command import whole_name

WAITING = {"ml/moe-fdd2", "ml/train", "web/train"}


@pytest.mark.parametrize("given", ["ml/moe-fdd2", "moe-fdd2"])
def test_the_only_waiting_job_of_a_name_needs_no_namespace(given: str) -> None:
    assert whole_name(given, WAITING) == "ml/moe-fdd2"


@pytest.mark.parametrize(
    ("given", "fix"),
    [
        ("train", "Did you mean ml/train or web/train?"),
        ("moe-fdd3", "Did you mean ml/moe-fdd2?"),
        ("ml/moe-fdd3", "Did you mean ml/moe-fdd2?"),
        ("web/moe-fdd2", "Did you mean ml/moe-fdd2?"),
        ("other", "`kube-collector jobs --phase waiting` lists the jobs that wait."),
    ],
)
def test_any_other_name_is_not_found_with_the_nearest(given: str, fix: str) -> None:
    with pytest.raises(NotFound) as raised:
        whole_name(given, WAITING)
    assert raised.value.fix == fix
