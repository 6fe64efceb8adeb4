"""Volcano's recorded words against a session on the recorded state, word by word: conditions of groups and of pods.

The folder is `KC_RECORDINGS`, by default `tests/recordings`. How each case agrees is told in `tests.support.volcano_said`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import agreement, volcano_said

FOLDERS = volcano_said.folders()


@pytest.mark.skipif(not FOLDERS, reason=f"no recordings of Volcano in {agreement.FOLDER}")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_session_says_what_volcano_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = volcano_said.compared(folder)
    with capsys.disabled():
        print(f"\n{folder.name}: words of Volcano beside those of a session\n{volcano_said.table(found)}")
    assert len(found) > 50
    assert [(each.case.name, each.case.words, each.made) for each in found if each.how == "differs"] == []
    # What only another state than the last one before the words explains is the lesser part.
    assert sum(each.how == "moment" for each in found) >= 0.8 * len(found)
    assert sum(each.how == "assumed" for each in found) <= 0.02 * len(found)
