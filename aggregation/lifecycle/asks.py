"""How much pods ask for, in the three figures that people compare: GPUs, CPU, memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from aggregation.lifecycle.course import Asking, Wish
from aggregation.lifecycle.objects import NO_ASKS, Asks
from pipeline.records import devices, quantity
from pipeline.records.quantity import Quantity
from pipeline.records.shapes.base import Container
from pipeline.records.shapes.pod import PodSpec, PodTemplate


def of_amounts(amounts: Mapping[str, Quantity] | None) -> Asks:
    """The figures of a resource list."""
    if not amounts:
        return NO_ASKS
    gpus = sum(quantity.units(amounts[name]) for name in devices.devices(amounts))
    return Asks(gpus, quantity.milli(amounts.get("cpu")), quantity.units(amounts.get("memory")))


def of_pod(spec: PodSpec | Wish | None) -> Asks:
    """As the scheduler adds up: containers and sidecars together, or the largest init container with the sidecars before it,
    plus overhead."""
    if spec is None:
        return Asks()
    inits = spec.init_containers
    if not inits:
        return _sum(spec.containers or ()) + of_amounts(spec.overhead)
    beside = starting = NO_ASKS
    for one in inits:
        asked = _of_container(one) + beside
        if one.restart_policy == "Always":
            beside = asked
        else:
            starting = larger(starting, asked)
    return larger(_sum(spec.containers or ()) + beside, starting) + of_amounts(spec.overhead)


def of_template(template: PodTemplate | None, count: int) -> Asks:
    """What `count` pods of a template ask for."""
    return of_pod(template.spec) * count if template is not None and template.spec is not None else Asks()


def _sum(containers: Iterable[Container | Asking]) -> Asks:
    return sum(map(_of_container, containers), NO_ASKS)


def _of_container(container: Container | Asking) -> Asks:
    needs = container.resources
    if needs is None:
        return NO_ASKS
    return _of_needs(tuple((needs.limits or {}).items()), tuple((needs.requests or {}).items()))


@lru_cache(maxsize=4096)
def _of_needs(limits: tuple[tuple[str, Quantity], ...], requests: tuple[tuple[str, Quantity], ...]) -> Asks:
    """Few templates make many pods."""
    return of_amounts({**dict(limits), **dict(requests)})


def larger(one: Asks, other: Asks) -> Asks:
    """The larger of each figure."""
    return Asks(
        max(one.gpus, other.gpus),
        max(one.cpus_milli, other.cpus_milli),
        max(one.memory_bytes, other.memory_bytes),
    )
