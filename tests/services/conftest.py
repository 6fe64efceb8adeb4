"""Real services, one of each for the whole run; a test takes a namespace of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support import cluster
from tests.support.cluster import Cluster


@pytest.fixture(scope="session")
def kube(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """etcd and API server, which a test may stop, freeze and restart."""
    with Cluster(cluster.programs(), tmp_path_factory.mktemp("kube")) as running:
        yield running
