"""Recorded words of kube-scheduler against its filters on the recorded state, word by word: every event FailedScheduling,
and every condition that no event tells. And the reasons told of its pods against what the recording's script had arranged.

The folder is `KC_RECORDINGS`, by default `tests/recordings`. How each event agrees is told in `tests.support.kube_said`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import agreement, foreign_reasons, kube_said

FOLDERS = kube_said.folders()
_missing = pytest.mark.skipif(not FOLDERS, reason=f"no recordings of kube-scheduler in {agreement.FOLDER}")


@_missing
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_message_comes_out_word_by_word_where_the_state_is_recorded(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = kube_said.compared(folder)
    with capsys.disabled():
        print(f"\n{folder.name}: messages of kube-scheduler made anew\n{kube_said.table(found)}")
    assert len(found) > 100
    differing = [(each.case.pod, each.case.words, each.made) for each in found if each.how == "differs"]
    assert differing == []
    # What only the order of the server's revisions, or a binding not stored yet, explains is the lesser part.
    assert sum(each.how == "time" for each in found) >= 0.6 * len(found)
    assert sum(each.how == "assumed" for each in found) <= 0.02 * len(found)
    assert sum(each.how == "incomplete" for each in found) <= 0.05 * len(found)


@_missing
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_what_the_script_arranged_is_told_while_it_held(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = foreign_reasons.steps(folder)
    with capsys.disabled():
        print(f"\n{folder.name}: reasons by the second\n{foreign_reasons.table(found)}")
    told = [step for step in found if step.seconds]
    assert len(told) > 15
    assert [step for step in told if step.agreeing < 0.9 * step.seconds] == []
    assert sum(step.agreeing for step in told) >= 0.98 * sum(step.seconds for step in told)
