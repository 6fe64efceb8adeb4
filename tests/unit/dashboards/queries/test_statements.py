"""Shipped statements: bound safely, in Doris' dialect, bounded."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from dashboards.filters import Filters
from dashboards.queries import statements


def test_a_parameter_becomes_an_argument_of_the_client():
    text, arguments = statements.bind("segments", {
        "day": "2026-01-01", "cluster": "c", "uid": "u'; DROP TABLE event; --", "episode": 0, "limit": 5,
    })  # fmt: skip
    assert "s.`job_uid` = %(uid)s" in text and "DROP" not in text
    assert arguments["uid"] == "u'; DROP TABLE event; --" and arguments["limit"] == 5


def test_a_list_becomes_as_many_arguments_and_an_empty_one_matches_nothing():
    some = {"days": ("a",), "clusters": ("x", "y"), "uids": (), "limit": 1}
    text, arguments = statements.bind("open_segments", some)
    assert "IN (%(clusters_0)s, %(clusters_1)s)" in text and "s.`job_uid` IN (NULL)" in text
    assert arguments == {"days_0": "a", "clusters_0": "x", "clusters_1": "y", "limit": 1}


def test_a_parameter_too_many_or_too_few_is_a_mistake():
    with pytest.raises(KeyError, match=r"progress\.sql takes"):
        statements.bind("progress", {"limit": 1})
    with pytest.raises(KeyError, match=r"names\.sql takes"):
        statements.bind("names", {"limit": 1})


def test_percent_signs_of_a_statement_are_not_places_to_fill(monkeypatch):
    made = statements.Statement("SELECT 'a%b' WHERE x = :x", frozenset({"x"}))
    monkeypatch.setattr(statements, "statement", lambda name: made)
    text, arguments = statements.bind("any", {"x": 1})
    assert text % {"x": "1"} == "SELECT 'a%b' WHERE x = 1" and arguments == {"x": 1}


def test_colons_of_times_are_no_parameters():
    assert statements.statement("jobs").names >= {"sort", "direction", "limit"}
    assert (
        "'1970-01-01 00:00:00.000'" in statements.bind("jobs", dict.fromkeys(statements.statement("jobs").names, 1))[0]
    )


@pytest.mark.parametrize("name", statements.names())
def test_every_statement_is_one_select_in_doris_dialect_with_a_limit(name):
    (tree,) = sqlglot.parse(statements.shipped()[f"figure_{name}"], read="doris")
    assert isinstance(tree, exp.Query)
    assert tree.args.get("limit") is not None


@pytest.mark.parametrize("name", statements.names())
def test_groups_come_in_one_order_only(name):
    """A warehouse that works on several threads gives groups that are equal in the order any way round."""
    (tree,) = sqlglot.parse(statements.shipped()[f"figure_{name}"], read="doris")
    if "limit" not in statements.statement(name).names:
        return  # one row, or all
    grouped = tree.args["group"].expressions if tree.args.get("group") else []
    sets = [column for each in grouped if isinstance(each, exp.GroupingSets) for column in each.find_all(exp.Column)]
    told_apart = sets or grouped or (tree.selects if tree.args.get("distinct") else [])
    named = {each.unalias().sql("doris"): each.alias for each in tree.selects}
    order = {each.this.sql("doris").replace("`", "") for each in tree.args["order"].expressions}
    for each in {one.sql("doris") for one in told_apart}:
        assert {each.replace("`", ""), named.get(each)} & order, f"{each} is not in the order"


@pytest.mark.parametrize("name", statements.names())
def test_every_statement_says_what_it_is_for(name):
    text = statements.resources.files("dashboards.queries").joinpath(f"{name}.sql").read_text()
    assert text.startswith("-- ")


def test_shipped_statements_have_no_parameter_left():
    assert not [name for name, text in statements.shipped().items() if statements._PARAMETER.search(text)]


def test_every_filter_has_the_same_two_parameters():
    filters = Filters(cluster=("a", "b"))
    assert filters.parameters("cluster", "queue") == {
        "any_cluster": 0, "cluster": ("a", "b"), "any_queue": 1, "queue": (),
    }  # fmt: skip
