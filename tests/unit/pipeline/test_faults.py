"""Fault points do nothing until the environment names them."""

from __future__ import annotations

import os
import signal

import pytest

from pipeline import faults


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    sent: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, sign: sent.append(sign))
    monkeypatch.setattr(os, "killpg", lambda group, sign: sent.append(-sign))
    monkeypatch.setattr(faults, "_passes", {})
    return sent


def arm(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(faults, "_points", faults._armed(text))


def test_a_point_that_is_not_named_does_nothing(monkeypatch: pytest.MonkeyPatch, killed: list[int]) -> None:
    arm(monkeypatch, "other:1")
    faults.point("log.write")
    assert killed == []


def test_the_nth_pass_dies_and_only_that(monkeypatch: pytest.MonkeyPatch, killed: list[int]) -> None:
    arm(monkeypatch, "log.write:3, log.index:99")
    for passes in range(1, 6):
        faults.point("log.write")
        faults.point("log.index")
        assert len(killed) == (passes >= 3)
    assert killed == [signal.SIGKILL]


def test_a_probability_dies_now_and_then(monkeypatch: pytest.MonkeyPatch, killed: list[int]) -> None:
    arm(monkeypatch, "log.write:0.25")
    draws = iter([0.9, 0.2, 0.3, 0.1])
    monkeypatch.setattr(faults.random, "random", lambda: next(draws))
    for _ in range(4):
        faults.point("log.write")
    assert len(killed) == 2


def test_the_whole_group_dies_first_if_that_is_asked_for(monkeypatch: pytest.MonkeyPatch, killed: list[int]) -> None:
    arm(monkeypatch, "log.write:1")
    monkeypatch.setattr(faults, "_whole_group", True)
    faults.point("log.write")
    assert killed == [-signal.SIGKILL, signal.SIGKILL]


def test_a_delay_makes_each_pass_longer(monkeypatch: pytest.MonkeyPatch, killed: list[int]) -> None:
    slept: list[float] = []
    monkeypatch.setattr(faults.time, "sleep", slept.append)
    monkeypatch.setattr(faults, "_delays_s", faults._armed("log.write:0.5"))
    for name in ("log.write", "log.index", "log.write"):
        faults.point(name)
    assert slept == [0.5, 0.5]
    assert killed == []
