"""What lists have in common."""

from __future__ import annotations

import pytest

from dashboards.asking import listing
from dashboards.filters import MOST_KNOWN
from pipeline.cli import terminal
from pipeline.errors import NotFound

UNKNOWN = [{"filter": "namespace", "value": "team-visoin", "near": "team-vision", "known": ["research", "team-vision"]}]


@pytest.fixture(autouse=True)
def said_all():
    terminal.reset()
    yield
    terminal.reset()


class Pages:
    """A list of so many rows that is asked for in pages."""

    def __init__(self, total):
        self.total = total
        self.asked = []

    def __call__(self, size, cursor):
        begin = int(cursor or 0)
        self.asked.append(size)
        end = min(self.total, begin + size)
        answer = {"items": list(range(begin, end)), "next": str(end) if end < self.total else None, "total": self.total}
        return answer | {"unknown": UNKNOWN}


def test_pages_are_put_together_up_to_the_limit(capsys):
    assert listing.pages(Pages(5), 100, "en") == list(range(5))
    assert listing.pages(Pages(2000), 0, "en") == list(range(2000))
    capsys.readouterr()
    ask = Pages(2000)
    assert listing.pages(ask, 700, "en") == list(range(700)) and ask.asked == [500, 200]
    assert "700 of 2000 are shown" in capsys.readouterr().err
    listing.pages(Pages(2000), 700, "zh")
    assert "共 2000 个，显示了 700 个；--limit 0 显示全部。" in capsys.readouterr().err


def test_a_filter_that_names_what_nobody_has_is_warned_of_once(capsys):
    listing.pages(Pages(2000), 0, "en")
    assert capsys.readouterr() == (
        "",
        "Warning: no job is known with namespace team-visoin (did you mean team-vision?). Known: research, team-vision.\n",
    )
    listing.unknown({"unknown": [UNKNOWN[0] | {"near": None, "known": []}]}, "zh")
    assert capsys.readouterr().err == "Warning: 没有命名空间为 team-visoin 的任务。已知的有：-。\n"
    listing.unknown({"unknown": [UNKNOWN[0] | {"known": ["x"] * MOST_KNOWN}]}, "en")
    assert capsys.readouterr().err.endswith("x, ….\n")
    listing.unknown({"items": []}, "en")
    terminal.wishes.quiet = True
    listing.pages(Pages(1), 0, "en")
    assert capsys.readouterr().err == ""


def test_moments_in_an_error_are_in_the_zone_of_all_else(monkeypatch):
    error = NotFound("it did not exist yet at 2025-12-31T23:59:59.999Z", fix="Ask from 2026-01-01T00:00:00.000Z on.")
    with pytest.raises(NotFound) as caught, listing.local_times(utc=True):
        raise error
    assert caught.value.what == "it did not exist yet at 2025-12-31 23:59:59Z"
    assert caught.value.fix == "Ask from 2026-01-01 00:00:00Z on."
