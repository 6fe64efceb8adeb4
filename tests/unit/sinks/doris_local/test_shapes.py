"""A query translated from memory is the query translated anew."""

from __future__ import annotations

import pytest

from sinks.doris_local import errors, translate
from sinks.doris_local.shapes import MOST, Shapes
from sinks.doris_local.tokens import tokenize

TEXTS = (
    "SELECT `a` FROM `t` WHERE `a` = '{}' AND `b` >= '{}' ORDER BY `a` LIMIT 5",
    "SELECT count(*) FROM t WHERE (a = '{}' OR b IN ('{}')) AND c <> 'x'",
    "SELECT a FROM t WHERE a IN ('{}', '{}', 'c') GROUP BY a HAVING max(b) < '{}'",
    "SELECT CASE WHEN a = '{}' THEN '{}' ELSE b END AS n FROM t WHERE b LIKE '{}'",
    "SELECT a FROM t WHERE d >= '{}' AND e BETWEEN '{}' AND '2026-01-02'",
    "SELECT a = '{}' FROM t",
    "SELECT date_format(d, '%Y') FROM t WHERE date_format(d, '%Y-%m') = '{}'",
    "WITH x AS (SELECT a FROM t WHERE a = '{}') SELECT x.a FROM x JOIN t ON x.a = t.a AND t.b = '{}'",
    "SELECT a FROM t WHERE a = 'it''s {}' AND b = '\\'{}' AND c = \"{}\"",
    "SELECT a FROM t WHERE a = '{}' + 1",
)
VALUES = ("x", "2026-01-01", "2026-01-01 10:00:00", "", "100%", "ü", "it's"[:2], "a -- b", "1")


def scope(**facts: str) -> translate.Scope:
    return translate.Scope(lambda database, table: ("memory", "db", table), lambda *_: {"a", "b"}, facts, lambda _: "7")


@pytest.mark.parametrize("text", TEXTS)
def test_a_query_of_a_known_shape_is_translated_as_if_it_were_new(text):
    shapes = Shapes()
    for first in VALUES:
        for second in VALUES:
            given = text.replace("{}", first, 1).replace("{}", second)
            assert shapes.query(given, tokenize(given), scope(), 1) == translate.query(given, scope())


def test_a_shape_is_translated_once_for_what_its_names_mean(monkeypatch):
    asked = []
    original = translate.query
    monkeypatch.setattr(translate, "query", lambda text, scope: asked.append(text) or original(text, scope))
    shapes = Shapes()
    for value, definitions in (("x", 1), ("y", 1), ("z", 2)):
        text = f"SELECT a FROM t WHERE a = '{value}'"
        shapes.query(text, tokenize(text), scope(), definitions)
    assert len(asked) == 2


@pytest.mark.parametrize(
    "text", ("SELECT @@version_comment, a FROM t WHERE a = 'x'", "SELECT user(), a FROM t WHERE a = 'x'")
)
def test_what_is_of_the_session_is_never_kept(text):
    shapes = Shapes()
    for user in ("one", "two"):
        assert shapes.query(text, tokenize(text), scope(user=user), 1) == translate.query(text, scope(user=user))


def test_a_refusal_speaks_of_the_text_itself():
    text = "SELECT nosuch('k') FROM t WHERE nosuch(a) = 'secret'"
    with pytest.raises(errors.SqlError) as anew:
        translate.query(text, scope())
    with pytest.raises(errors.SqlError) as refused:
        Shapes().query(text, tokenize(text), scope(), 1)
    assert str(refused.value) == str(anew.value)


def test_old_shapes_are_let_go():
    shapes = Shapes()
    for number in range(MOST + 10):
        text = f"SELECT a FROM t LIMIT {number}"
        shapes.query(text, tokenize(text), scope(), 1)
    assert len(shapes._kept) == MOST
