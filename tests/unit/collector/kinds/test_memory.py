"""What a known pod costs in memory."""

import tracemalloc

import pytest

from tests.support.mirrored import JOBS, NODES, PODS, Cluster, node, owned, pod, thing

PODS_PER_JOB = 10
JOBS_KNOWN = 300
LIMIT_BYTES = 2560


@pytest.mark.parametrize("where", ["", "node-1"])
def test_a_known_pod_costs_less_than_two_and_a_half_kib(where):
    cluster = Cluster()
    for n in range(20):
        cluster.add(NODES, node(f"node-{n}"))
    tolerations = [{"key": f"node.kubernetes.io/{key}", "operator": "Exists"} for key in ("not-ready", "unreachable")]
    volumes = [{"name": f"volume-{n}"} for n in range(10)]
    spec = {"tolerations": tolerations, "nodeSelector": {"pool": "gpu"}, "volumes": volumes, "schedulerName": "default"}
    labels = {f"example.com/label-{n}": "value" for n in range(10)}
    tracemalloc.start()
    try:
        for n in range(JOBS_KNOWN):
            cluster.add(JOBS, thing(f"train-{n}"))
        without_pods = tracemalloc.get_traced_memory()[0]
        for n in range(JOBS_KNOWN * PODS_PER_JOB):
            job = f"train-{n % JOBS_KNOWN}"
            cluster.add(PODS, owned(pod(f"{job}-{n}", node=where, spec=spec, labels=labels), "Job", job))
            cluster.records.clear()
            cluster.known()
        of_pods = tracemalloc.get_traced_memory()[0] - without_pods
    finally:
        tracemalloc.stop()
    per_pod = of_pods / (JOBS_KNOWN * PODS_PER_JOB)
    assert 300 < per_pod < LIMIT_BYTES
