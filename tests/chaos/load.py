"""Load on a cluster: jobs that come, wait for room, run and go; nodes that are closed and opened."""

from __future__ import annotations

import itertools
import random
import threading
import time
import urllib.error
from typing import Any

from tests.support.cluster import Cluster

NAMESPACE = "load"
NODES = 3
CPUS = 12
MOST_JOBS = 200
LEAST_LIFE_S = 90.0
"""Few jobs are gone again before a pipeline that was killed is back: what nobody saw cannot be compared."""
PROMISE_S = 8
TOO_BIG_SHARE = 0.08
"""Jobs that fit on no node: they wait to the end, and something can be said of them."""


class Load:
    """Runs on a thread of its own from begin to end of the block, so many steps a second."""

    def __init__(self, kube: Cluster, dice: random.Random, rate: float) -> None:
        self.jobs = 0
        self.failure: Exception | None = None
        self._kube = kube
        self._dice = dice
        self._step_s = 1 / rate
        self._closed: set[str] = set()
        self._born: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Load:
        self._kube.request("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        for n in range(NODES):
            self._kube.request("POST", "/api/v1/nodes", _node(n))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """No more steps; what exists stays, and all nodes are open."""
        self._stop.set()
        self._thread.join(60)
        for name in self._closed:
            self._close(name, False)
        self._closed.clear()

    def _run(self) -> None:
        try:
            for number in itertools.count():
                if self._stop.wait(self._step_s):
                    return
                self._act(number)
        except Exception as error:
            self.failure = error

    def _act(self, number: int) -> None:
        if number % 9 == 8:
            name = f"load-{self._dice.randrange(NODES)}"
            self._close(name, name not in self._closed)
            self._closed ^= {name}
        elif len(self._born) < MOST_JOBS:
            self._create(number)
        else:
            self._delete()

    def _create(self, number: int) -> None:
        name = f"job-{number}"
        try:
            self._kube.request("POST", f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs", _job(name, self._dice))
        except urllib.error.HTTPError as error:
            if error.code not in (403, 500):  # the namespace has no account yet
                raise
            return
        self._born[name] = time.monotonic()
        self.jobs += 1

    def _delete(self) -> None:
        name, born_s = next(iter(self._born.items()))
        if time.monotonic() - born_s < LEAST_LIFE_S:
            return
        del self._born[name]
        body = {"propagationPolicy": "Background"}
        self._kube.request("DELETE", f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{name}", body)

    def _close(self, name: str, closed: bool) -> None:
        self._kube.patch(f"/api/v1/nodes/{name}", {"spec": {"unschedulable": closed or None}})


def _node(n: int) -> dict[str, Any]:
    room = {"cpu": str(CPUS), "memory": "64Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": f"load-{n}", "type": "kwok", "pool": "load"}
    return {"metadata": {"name": f"load-{n}", "labels": labels}, "status": {"allocatable": room, "capacity": room}}


def _job(name: str, dice: random.Random) -> dict[str, Any]:
    pods = dice.choice((1, 1, 2, 3))
    asks = {"cpu": str(CPUS + 1) if dice.random() < TOO_BIG_SHARE else "1", "memory": "1Gi"}
    spec = {
        "restartPolicy": "Never",
        "nodeSelector": {"pool": "load"},
        "containers": [
            {"name": "main", "image": "registry.invalid/train:1", "resources": {"requests": asks, "limits": asks}}
        ],
    }
    promised = {"volcano.sh/sla-waiting-time": f"{PROMISE_S}s"} if dice.random() < 0.5 else {}
    return {
        "metadata": {"name": name, "annotations": promised},
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "template": {"metadata": {"annotations": {"example.com/run-for": f"{dice.randint(4, 16)}s"}}, "spec": spec},
        },
    }
