"""The file of states, and who may have it."""

from __future__ import annotations

import pytest

from aggregation.runners import store
from pipeline.errors import UserError


def test_a_folder_that_cannot_be_made_is_told_as_everywhere(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(UserError, match="the data folder cannot be used: Not a directory") as caught:
        store.hold(tmp_path / "taken" / "aggregation" / "aggregation.db")
    assert "--set data_dir=PATH" in caught.value.fix
