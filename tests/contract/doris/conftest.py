"""One suite, two warehouses: the local Doris, started here, or a real one, by address.

    KC_DORIS_FE_HTTP=fe:8030 KC_DORIS_QUERY=9030 KC_DORIS_USER=root KC_DORIS_PASSWORD=… KC_DORIS_BACKENDS='*' pytest tests/contract/doris

Against a real one everything happens in a database of its own, which is dropped at the end.
"""

from __future__ import annotations

import os
import uuid

import pytest

from pipeline.doris import local
from pipeline.doris.local import Address
from pipeline.doris.settings import Settings
from pipeline.doris.sql import Sql
from pipeline.doris.streamload import StreamLoad
from sinks.doris import warehouse
from sinks.doris.child import launcher


@pytest.fixture(scope="session")
def is_local():
    """Whether the suite runs against the local Doris."""
    return "KC_DORIS_FE_HTTP" not in os.environ


@pytest.fixture(scope="session")
def server(is_local, tmp_path_factory):
    """Settings of a Doris that answers, with a database that does not exist yet."""
    database = f"kc_contract_{uuid.uuid4().hex[:8]}"
    if is_local:
        child = launcher()(tmp_path_factory.mktemp("doris"))
        settings = local.at(Settings(database=database), Address(child.http_port, child.mysql_port))
        yield settings
        child.stop()
        return
    settings = Settings(
        frontend=os.environ["KC_DORIS_FE_HTTP"],
        query_port=int(os.environ.get("KC_DORIS_QUERY", "9030")),
        user=os.environ.get("KC_DORIS_USER", "root"),
        password=os.environ.get("KC_DORIS_PASSWORD", ""),
        backends=tuple(os.environ.get("KC_DORIS_BACKENDS", "*").split(",")),
        database=database,
        replication_num=int(os.environ.get("KC_DORIS_REPLICATION", "1")),
        buckets=1,
    )
    yield settings
    sql = Sql(settings, database="")
    sql.execute(f"DROP DATABASE IF EXISTS `{database}`")
    sql.close()


@pytest.fixture(scope="session")
def settings(server):
    """The same, with the schema applied."""
    warehouse.apply_schema(server)
    return server


@pytest.fixture
def sql(settings):
    pool = Sql(settings)
    yield pool
    pool.close()


@pytest.fixture
def client(settings):
    with StreamLoad(settings) as made:
        yield made


@pytest.fixture
def cluster():
    """A name of its own, so that tests share tables without seeing each other."""
    return f"c-{uuid.uuid4().hex[:10]}"


@pytest.fixture
def load(client):
    """Loads rows through the product's own way: newest of each key, lines, one load a table."""
    from sinks.batch import Batch

    def put(*rows, label=None):
        batch = Batch()
        for row in rows:
            batch.add(row)
        results = [
            client.load(part.table, b"\n".join(part.lines), rows=len(part.lines), label=label or uuid.uuid4().hex)
            for part in batch.loads()
        ]
        assert batch.bad == []
        return results

    return put
