"""What pods ask for, as schedulers add it up."""

from __future__ import annotations

import pytest

from aggregation.lifecycle import asks
from pipeline.records.shapes.base import Container, ResourceNeeds
from pipeline.records.shapes.pod import PodSpec


def container(cpu, *, sidecar=False):
    return Container(resources=ResourceNeeds(requests={"cpu": cpu}), restart_policy="Always" if sidecar else None)


@pytest.mark.parametrize(("init", "cpus_milli"), [
    ([container(1, sidecar=True), container(4)], 5000),
    ([container(4), container(1, sidecar=True)], 4000),
    ([container(1, sidecar=True), container(1, sidecar=True), container(1)], 4000),
    ([container(1, sidecar=True), container(2), container(1, sidecar=True), container(2)], 4000),
    ([], 2000),
])  # fmt: skip
def test_an_init_container_runs_beside_the_sidecars_before_it(init, cpus_milli):
    assert asks.of_pod(PodSpec(containers=[container(2)], init_containers=init)).cpus_milli == cpus_milli
