"""Hundreds of reconnects: what each costs, counted, and what is left of them."""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import statistics
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pipeline.kubeapi import happenings as tell
from pipeline.kubeapi.client import Client
from pipeline.kubeapi.credentials import Credentials
from pipeline.kubeapi.options import Options
from pipeline.kubeapi.reflector import Reflector
from pipeline.kubeapi.resources import Collection, Resource
from pipeline.telemetry.event import ROOT
from tests.support.cluster import poll
from tests.support.collecting import Collecting
from tests.support.scripted_api import ScriptedApi, Then, chunks, serve
from tests.support.scripted_transport import frame, pod

HASTY = Options(silent_s=30.0, backoff_first_s=0.0005, backoff_cap_s=0.001, away_cap_s=0.001, settled_s=0.5)
KINDS = ("namespaces", "nodes", "pods")


class Left(NamedTuple):
    """What a process holds."""

    threads: int
    sockets_and_files: int
    objects: int


def left() -> Left:
    gc.collect()
    files = sum(1 for _ in Path("/proc/self/fd").iterdir())
    return Left(threading.active_count(), files, len(gc.get_objects()))


def kubeconfig(folder: Path, api: ScriptedApi) -> Path:
    path = folder / "kubeconfig"
    path.write_text(json.dumps(api.kubeconfig()))
    return path


def cut(api: ScriptedApi, collecting: Collecting, times: int) -> None:
    """Ends every connection, `times` times, and each time waits until all kinds are watched again."""
    watches = collecting.collector.progress()
    for _ in range(times):
        opened = {name: each.watches for name, each in watches.items()}
        api.drop_connections()
        poll("all watch again", lambda then=opened: all(each.watches > then[name] for name, each in watches.items()))  # type: ignore[misc]


def forget_requests(api: ScriptedApi) -> None:
    """They are the server's memory, not ours."""
    for script in (api.lists, api.watches, api.probes, *api.others.values()):
        script.requests.clear()


def looked_around(api: ScriptedApi) -> None:
    """Waits until the collector has once more asked what is served: it keeps a connection for that, unless it was cut."""
    asked = api.others["/api/v1/namespaces/kube-system"].requests
    begun = len(asked)
    poll("it has looked around", lambda: len(asked) >= begun + 2)


def test_hundreds_of_reconnects_leave_nothing_behind_and_cost_two_requests_each(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, ROOT)  # a look that is cut is warned of, and pytest keeps each line
    times = 200
    with ScriptedApi() as api:
        serve(api, "uid", *KINDS)
        with Collecting(kubeconfig(tmp_path, api), tmp_path / "data", HASTY) as collecting:
            poll("all kinds are watched", collecting.streaming)
            cut(api, collecting, 30)
            looked_around(api)
            forget_requests(api)
            live = collecting.collector._live
            before, connections, threads = left(), api.connections, len(live._threads)
            cut(api, collecting, times)

            reconnects = times * len(KINDS)
            asked = (len(api.probes.requests), len(api.watches.requests), len(api.lists.requests))
            assert asked == (reconnects, reconnects, 0)
            looks = sum(len(script.requests) for script in api.others.values())
            assert api.connections - connections <= 2 * reconnects + looks
            assert len(live._threads) == threads
            poll("the inbox is empty", lambda: live.told.bytes == 0)
            looked_around(api)
            forget_requests(api)
            poll("no thread is left over", lambda: left().threads <= before.threads)
            poll("no socket is left over", lambda: left().sockets_and_files <= before.sockets_and_files)
            assert left().objects - before.objects < reconnects, "less than one object a reconnect"
            assert collecting.records() == []


def test_the_three_hundredth_reconnect_costs_what_the_thirtieth_did(tmp_path: Path) -> None:
    """Calls of functions, those of the libraries below included."""
    calls, costs = 0, []

    def count(_: Any, event: str, __: Any) -> None:
        nonlocal calls
        calls += event == "call"

    with ScriptedApi() as api:
        api.watches.will(chunks(frame("ADDED", pod("a", "11")), then=Then.CUT))
        with contextlib.closing(Client(Credentials(kubeconfig(tmp_path, api)))) as client:
            reflector = Reflector(Collection(Resource("", "v1", "pods", "Pod")), client.connection(), HASTY)
            sys.setprofile(count)
            try:
                for happening in reflector.happenings():
                    if isinstance(happening, tell.WatchStarted):
                        costs.append(calls)
                        calls = 0
                    if len(costs) == 320:
                        break
            finally:
                sys.setprofile(None)
    early, late = statistics.median(costs[20:50]), statistics.median(costs[290:])
    print(f"a reconnect costs {early:.0f} calls, later {late:.0f}")
    assert late <= early * 1.02
    assert late < 3000
