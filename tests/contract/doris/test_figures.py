"""Every shipped question of the dashboards runs, with a literal in the place of each parameter."""

from __future__ import annotations

import pytest

from dashboards.queries import statements


@pytest.mark.parametrize("name", sorted(statements.shipped()))
def test_every_question_runs(name, sql):
    found = sql.query(statements.shipped()[name])
    assert found.columns and all(column == column.lower() for column in found.columns)
