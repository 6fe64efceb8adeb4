"""How metrics are declared: once, by name, kind, sentence, labels, unit and stability; in a registry of our own.

A name is `kube_collector_` + what + unit, counters end in `_total` (the naming rules of Prometheus). Labels take values from
small closed sets: a stage, a kind, a result; never a job, a pod or a message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

PREFIX = "kube_collector_"
REGISTRY = CollectorRegistry()

Stability = Literal["stable", "experimental"]
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Buckets of calls and batches."""


class Metric(NamedTuple):
    """One declared metric; `name` as it is scraped."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    labels: tuple[str, ...]
    unit: str
    stability: Stability


DECLARED: list[Metric] = []


def counter(name: str, help: str, labels: Sequence[str] = (), *, stability: Stability = "experimental") -> Counter:
    """A number that only grows; `name` ends in `_total`."""
    _declare(Metric(PREFIX + name, "counter", help, tuple(labels), _unit(name), stability))
    return Counter(PREFIX + name, help, labels, registry=REGISTRY)


def gauge(name: str, help: str, labels: Sequence[str] = (), *, stability: Stability = "experimental") -> Gauge:
    """A number that goes both ways."""
    _declare(Metric(PREFIX + name, "gauge", help, tuple(labels), _unit(name), stability))
    return Gauge(PREFIX + name, help, labels, registry=REGISTRY)


def histogram(
    name: str,
    help: str,
    labels: Sequence[str] = (),
    *,
    buckets: Sequence[float] = SECONDS,
    stability: Stability = "experimental",
) -> Histogram:
    """How a quantity is spread; `name` ends in its unit."""
    _declare(Metric(PREFIX + name, "histogram", help, tuple(labels), _unit(name), stability))
    return Histogram(PREFIX + name, help, labels, registry=REGISTRY, buckets=buckets)


def of_stages() -> dict[tuple[str, str], float]:
    """What the counters with a label `stage` have come to in this process: by stage and name without prefix and `_total`, summed
    over their other labels."""
    found: dict[tuple[str, str], float] = {}
    for sample in (sample for family in REGISTRY.collect() for sample in family.samples):
        if "stage" in sample.labels and sample.name.endswith("_total"):
            of = (sample.labels["stage"], sample.name.removeprefix(PREFIX).removesuffix("_total"))
            found[of] = found.get(of, 0.0) + sample.value
    return found


def _declare(metric: Metric) -> None:
    if any(known.name == metric.name for known in DECLARED):
        raise ValueError(f"{metric.name} is declared twice")
    DECLARED.append(metric)


def _unit(name: str) -> str:
    """The unit that a name ends in, before `_total`."""
    last = name.removesuffix("_total").rsplit("_", 1)[-1]
    return last if last in {"seconds", "bytes", "ratio"} else ""
