"""What lists have in common."""

from __future__ import annotations

from dashboards.asking import listing


class Pages:
    """A list of so many rows that is asked for in pages."""

    def __init__(self, total):
        self.total = total
        self.asked = []

    def __call__(self, size, cursor):
        begin = int(cursor or 0)
        self.asked.append(size)
        end = min(self.total, begin + size)
        return {"items": list(range(begin, end)), "next": str(end) if end < self.total else None, "total": self.total}


def test_pages_are_put_together_up_to_the_limit(capsys):
    assert listing.pages(Pages(5), 100) == list(range(5))
    assert listing.pages(Pages(2000), 0) == list(range(2000))
    ask = Pages(2000)
    assert listing.pages(ask, 700) == list(range(700)) and ask.asked == [500, 200]
    assert "700 of 2000 are shown" in capsys.readouterr().err
