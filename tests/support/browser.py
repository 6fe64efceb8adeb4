"""A real browser before the page: what it shows, what it asks for, what it complains about.

The browser is the system's Chromium, driven by playwright; nothing is fetched. Without a Chinese font every Chinese character
is an empty box, so one is asked for too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.cluster import poll

_INSTALL = "install it once with tests/support/install_services"
_SETTLE_MS = 60_000
_HEARD = "() => new Promise((heard) => requestAnimationFrame(() => setTimeout(heard)))"
"""Resolves when the page has drawn once more and what was under way before has been heard: a changed address, an effect."""
LOOPBACK = {"127.0.0.1", "localhost"}


def chromium() -> str:
    """Path of the browser. Skips the calling test if there is none (or no Chinese font), as `KC_SERVICES` says."""
    wanted = os.environ.get("KC_SERVICES", "auto")
    if wanted == "skip":
        pytest.skip("KC_SERVICES=skip")
    missing = _missing()
    if missing and wanted == "build":
        pytest.fail(f"KC_SERVICES=build, but {missing}")
    if missing:
        pytest.skip(f"{missing}; {_INSTALL}")
    found = shutil.which("chromium")
    assert found is not None, "looked for just now"
    return found


def _missing() -> str:
    if shutil.which("chromium") is None:
        return "there is no chromium"
    fonts = shutil.which("fc-list")
    if fonts is None or not subprocess.run([fonts, ":lang=zh"], capture_output=True, check=False).stdout:
        return "there is no font with Chinese characters"
    return ""


@contextmanager
def launched() -> Iterator[Any]:
    """The browser, for as long as the block lasts."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        yield browser
        browser.close()


class Tab:
    """One tab with storage of its own. `errors`: what the console or the page complained of; `asked`: every address."""

    def __init__(
        self, browser: Any, base: str, *, width: int = 1280, lang: str = "en-GB", scheme: str = "light"
    ) -> None:
        self.base = base
        self.errors: list[str] = []
        self.asked: list[str] = []
        self.context = browser.new_context(
            viewport={"width": width, "height": 800}, locale=lang, timezone_id="Asia/Shanghai", color_scheme=scheme,
            reduced_motion="reduce",
        )  # fmt: skip
        self.page = self.context.new_page()
        self.page.set_default_timeout(_SETTLE_MS)
        self.page.on(
            "console", lambda said: self.errors.append(said.text) if said.type in ("error", "warning") else None
        )
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.route("**/*", _only_loopback)

    def close(self) -> None:
        self.context.close()

    def open(self, route: str = "#/") -> None:
        """Goes to a place of the page and waits until its data is there."""
        self.page.goto(self.base + route)
        self.settled()

    def settled(self) -> None:
        """Waits until nothing is a skeleton and nothing is of an earlier question."""
        for _ in range(2):  # what is drawn may ask for the next drawing
            self.page.evaluate(_HEARD)
        self.page.locator("h1").first.wait_for(state="attached")
        self.until("everything is loaded", lambda: self.count(".skeleton") == 0)
        self.until("the picture is of this question", lambda: self.count("[aria-busy=true]") == 0)

    def until(self, what: str, condition: Callable[[], object]) -> None:
        """Polls, while the browser goes on."""
        poll(what, lambda: self.page.wait_for_timeout(20) or condition())

    def shows(self, shown: Callable[[], object], wanted: Callable[[], object]) -> None:
        """Polls until what is shown is what is wanted, both read anew: a replay goes on, and a click is heard later."""
        until_s = time.monotonic() + _SETTLE_MS / 1000
        while (found := shown()) != (right := wanted()) and time.monotonic() < until_s:
            self.page.wait_for_timeout(100)
        assert found == right

    def count(self, selector: str) -> int:
        return int(self.page.locator(selector).count())

    def text(self, selector: str) -> str:
        """The words of the first such element, blanks as single ones."""
        return " ".join(self.page.locator(selector).first.inner_text().split())

    def texts(self, selector: str) -> list[str]:
        return [" ".join(each.split()) for each in self.page.locator(selector).all_inner_texts()]

    def query(self) -> dict[str, str]:
        """What stands behind the ? in the fragment."""
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.page.url).fragment.partition("?")[2]))


def _only_loopback(route: Any) -> None:
    if urllib.parse.urlsplit(route.request.url).hostname in LOOPBACK:
        route.continue_()
    else:
        route.abort()
