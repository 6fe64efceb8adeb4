"""The local Doris as it runs for users: a child process, reached over its two ports with plain clients."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx
import pymysql

from sinks.doris_local import launch

TABLE = """CREATE TABLE IF NOT EXISTS kube.t (k INT NOT NULL, v VARCHAR(20), at DATETIME(3), seq BIGINT NOT NULL) UNIQUE KEY(k)
    DISTRIBUTED BY HASH(k) BUCKETS 1 PROPERTIES ("replication_num" = "1", "function_column.sequence_col" = "seq")"""
HEADERS = {"format": "json", "read_json_by_line": "true", "Expect": "100-continue"}
LABELS = itertools.count()


class Doris:
    """A child, and the two clients every test needs."""

    def __init__(self, child: launch.LocalDoris, password: str = "") -> None:
        self.child = child
        self.password = password
        self.http = httpx.Client(auth=("root", password), timeout=30, trust_env=False)

    @property
    def frontend(self) -> str:
        return f"http://127.0.0.1:{self.child.http_port}"

    def connect(self, **more: object) -> pymysql.Connection:
        chosen = {"user": "root", "password": self.password, "autocommit": True, **more}
        return pymysql.connect(host="127.0.0.1", port=self.child.mysql_port, **chosen)

    def rows(self, text: str) -> list[tuple[object, ...]]:
        connection = self.connect()
        try:
            with connection.cursor() as cursor:
                cursor.execute(text)
                return list(cursor.fetchall())
        finally:
            connection.close()

    def redirect(self, table: str = "t", **headers: str) -> str:
        """Where the frontend sends a load, without the password in it."""
        answer = self.http.put(f"{self.frontend}/api/kube/{table}/_stream_load", headers={**HEADERS, **headers})
        assert answer.status_code == 307, answer.text
        target = urlsplit(answer.headers["location"])
        assert (target.username, unquote(target.password or "")) == ("root", self.password)
        return f"http://{target.hostname}:{target.port}{target.path}"

    def load(self, *rows: object, table: str = "t", body: bytes | None = None, **headers: str) -> dict[str, object]:
        """A load in two steps, as a careful client does it; the backend's answer."""
        headers = {**HEADERS, "label": f"test-{next(LABELS)}", **headers}
        content = "\n".join(map(json.dumps, rows)).encode() if body is None else body
        return self.http.put(self.redirect(table), headers=headers, content=content).json()

    def arm(self, name: str, **more: object) -> None:
        self.http.post(f"{self.frontend}/_fault", content=json.dumps({"name": name, **more}))

    def stop(self) -> None:
        self.http.close()
        self.child.stop()

    @classmethod
    def started(cls, path: Path, **more: object) -> Doris:
        """`more` goes to `launch.start`."""
        return cls(launch.start(path, **more), str(more.get("password", "")))
