"""The process itself: ready line, ends, ownership of the file, and what is left after kill -9."""

import contextlib
import json
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pymysql
import pytest

from pipeline import errors
from sinks.doris_local import launch
from tests.support.local_doris import HEADERS, TABLE, Doris

ENDS_WITHIN_S = 60


def _spawn(path, *flags):
    command = [sys.executable, "-m", "sinks.doris_local", "--path", str(path), *flags]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return process, json.loads(process.stdout.readline())


def test_the_ready_line_names_ports_that_answer(tmp_path):
    process, ready = _spawn(tmp_path)
    try:
        assert list(ready) == ["http_port", "backend_port", "mysql_port"]
        assert (
            httpx.get(f"http://127.0.0.1:{ready['http_port']}/api/bootstrap").json()["data"]["queryPort"]
            == ready["mysql_port"]
        )
    finally:
        process.terminate()
        out, log = process.communicate(timeout=ENDS_WITHIN_S)
    assert (process.returncode, out, log) == (0, b"", b"")


def test_sigint_is_ignored_and_end_of_file_ends_it(tmp_path):
    process, ready = _spawn(tmp_path, "--stop-at-eof")
    process.send_signal(signal.SIGINT)
    assert httpx.get(f"http://127.0.0.1:{ready['http_port']}/api/bootstrap").status_code == 200
    process.stdin.close()
    assert process.wait(ENDS_WITHIN_S) == 0
    process.stdout.close()
    process.stderr.close()


def test_it_ends_with_its_parent_however_that_ends(tmp_path):
    script = (
        "import pathlib, sys, time; from sinks.doris_local import launch\n"
        "print(launch.start(pathlib.Path(sys.argv[1])).process.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE)
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + ENDS_WITHIN_S
    while Path(f"/proc/{child}/exe").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    Doris.started(tmp_path).stop()  # the file is free again


def test_one_process_owns_the_file(tmp_path):
    first = Doris.started(tmp_path)
    try:
        with pytest.raises(errors.CheckFailed) as caught:
            launch.start(tmp_path, options=("--lock-wait-s", "0.3"))
        assert "ended at once with exit code 5" in str(caught.value)
        assert "another process has this local Doris open" in str(caught.value)
        assert first.rows("SELECT 1") == [(1,)]
    finally:
        first.stop()


def test_one_that_still_ends_is_waited_for(tmp_path):
    first = Doris.started(tmp_path)
    first.child.process.send_signal(signal.SIGSTOP)
    threading.Timer(1.0, first.child.process.send_signal, [signal.SIGCONT]).start()
    threading.Timer(1.0, first.child.process.stdin.close).start()
    second = Doris.started(tmp_path)
    assert second.rows("SELECT 1") == [(1,)]
    second.stop()
    first.stop()


def test_a_taken_port_is_told(tmp_path):
    first = Doris.started(tmp_path / "a")
    try:
        with pytest.raises(errors.CheckFailed, match="a port cannot be listened on"):
            launch.start(tmp_path / "b", mysql_port=first.child.mysql_port)
    finally:
        first.stop()


def test_definitions_rows_and_labels_are_there_after_a_restart(tmp_path):
    doris = Doris.started(tmp_path)
    for text in ("CREATE DATABASE kube", TABLE, "CREATE VIEW kube.late AS SELECT k, v FROM kube.t"):
        doris.rows(text)
    doris.rows("CREATE VIEW kube.early AS SELECT k FROM kube.late")
    doris.load({"k": 1, "v": "a", "seq": 1}, label="kept")
    created = doris.rows("SHOW CREATE TABLE kube.t")
    doris.stop()
    doris = Doris.started(tmp_path)
    try:
        assert doris.rows("SHOW CREATE TABLE kube.t") == created
        assert doris.rows("SELECT * FROM kube.early") == [(1,)]
        assert doris.load({"k": 2, "seq": 1}, label="kept")["ExistingJobStatus"] == "FINISHED"
    finally:
        doris.stop()


def test_after_kill_9_every_acknowledged_load_is_there_whole_and_no_other_in_part(tmp_path):
    """Loads of 200 rows each go to two tables until the process is killed at a random moment; some rounds of it."""
    acknowledged, per_load = set(), 200
    for round_ in range(3):
        doris = Doris.started(tmp_path)
        for text in ("CREATE DATABASE IF NOT EXISTS kube", TABLE, TABLE.replace("kube.t", "kube.u")):
            doris.rows(text)
        killer = threading.Timer(random.uniform(0.0, 1.0), doris.child.process.kill)
        _load_until_killed(doris, round_, per_load, acknowledged, killer)
        killer.join()
        doris.stop()
    doris = Doris.started(tmp_path)
    try:
        known = set()
        for table in ("t", "u"):
            counts = dict(doris.rows(f"SELECT v, count(*) FROM kube.{table} GROUP BY v"))
            assert set(counts.values()) <= {per_load}
            known |= set(counts)
        assert acknowledged and acknowledged <= known
        for label in known | acknowledged:
            state = doris.http.get(f"{doris.frontend}/api/kube/get_load_state", params={"label": label}).json()["data"]
            assert state == "VISIBLE"
    finally:
        doris.stop()


def test_it_ends_well_in_the_middle_of_loads_and_long_queries(tmp_path):
    doris = Doris.started(tmp_path)
    for text in ("CREATE DATABASE kube", TABLE):
        doris.rows(text)
    doris.load(*({"k": k, "seq": 1} for k in range(2000)))
    acknowledged, asked = [], threading.Event()

    def ask() -> None:
        asked.set()
        with pytest.raises(pymysql.MySQLError):
            doris.rows("SELECT max(sqrt(a.seq * b.seq)) FROM kube.t a, kube.t b, kube.t c, kube.t d")

    def load() -> None:
        client = httpx.Client(auth=("root", ""), trust_env=False)
        url = f"http://127.0.0.1:{doris.child.backend_port}/api/kube/t/_stream_load"
        with contextlib.suppress(httpx.TransportError):
            for n in range(5000, 100_000):
                answer = client.put(url, headers=HEADERS, content=json.dumps({"k": n, "seq": 1}).encode())
                if answer.status_code != 200:
                    break  # the end came between its head and its body
                if answer.json()["Status"] == "Success":
                    acknowledged.append(n)
        client.close()

    threads = [threading.Thread(target=ask), threading.Thread(target=load)]
    for thread in threads:
        thread.start()
    asked.wait()
    time.sleep(0.3)  # into the middle of both; what is seen below does not depend on it
    doris.stop()
    for thread in threads:
        thread.join()
    assert doris.child.process.returncode == 0
    assert doris.child.log_path.read_text() == ""
    doris = Doris.started(tmp_path)
    try:
        assert doris.rows("SELECT count(*) FROM kube.t") == [(2000 + len(acknowledged),)]
    finally:
        doris.stop()


def _load_until_killed(doris, round_, per_load, acknowledged, killer):
    """Starts the killer once a load has come through, however long that takes."""
    url = f"http://127.0.0.1:{doris.child.backend_port}/api/kube"
    for n in range(10_000):
        table, label = "tu"[n % 2], f"r{round_}n{n}"
        base = (round_ * 10_000 + n) * per_load
        body = "\n".join(json.dumps({"k": base + i, "v": label, "seq": 1}) for i in range(per_load)).encode()
        try:
            answer = doris.http.put(
                f"{url}/{table}/_stream_load", headers={**HEADERS, "label": label}, content=body
            ).json()
        except (httpx.TransportError, json.JSONDecodeError):
            return
        assert answer["Status"] == "Success"
        acknowledged.add(label)
        if n == 0:
            killer.start()
    raise AssertionError("it was never killed")
