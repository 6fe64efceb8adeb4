"""A real Kubernetes on loopback for as long as a test needs it: etcd and API server; more programs if asked for.

    with Cluster(programs(), folder, tier=1) as cluster:
        cluster.request("POST", "/api/v1/namespaces", {"metadata": {"name": "team-a"}})
        Client(Credentials(cluster.kubeconfig("collector")))

| tier | programs | for |
|---|---|---|
| 1 | etcd, kube-apiserver | lists, watches, 410, roles, restarts; objects and their status are written by the test |
| 2 | + kube-scheduler | the scheduler's own words, conditions, preemption |
| 3 | + kube-controller-manager, kwok | Jobs, node life, eviction; pods that run and end |

Where the programs come from is `KC_SERVICES`: `auto` (default) takes those in the cache, else the tests are skipped with
the command that builds them; `build` builds what is missing (`build_kube.sh`, 10 to 20 minutes, once); `skip` skips.
Tests that need no control over the servers also run against the cluster that `KC_KUBECONFIG` names.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
VERSION = "v1.37.2"
BUILD = "tests/support/build_kube.sh"
USERS = {
    "admin": "system:masters",
    "system:kube-controller-manager": "",
    "system:kube-scheduler": "",
    "kwok": "system:masters",
    "collector": "",
    "nobody": "",
}
"""User → group. Each has the token `<name>-token`, the part of its name behind the last colon; `nobody` has no role."""
Rule = dict[str, Any]
_given_ports: set[int] = set()


def programs() -> Path:
    """The folder with the programs. Skips the calling test if there is none, as `KC_SERVICES` says."""
    wanted = os.environ.get("KC_SERVICES", "auto")
    if wanted == "skip":
        pytest.skip("KC_SERVICES=skip")
    if wanted == "build":
        built = subprocess.run([HERE / "build_kube.sh"], check=True, stdout=subprocess.PIPE, text=True)
        return Path(built.stdout.strip())
    folder = _cache() / f"kube-{VERSION}-{_sum()}"
    if not (folder / "kwok").is_file():
        pytest.skip(f"no Kubernetes programs in {folder}; build them once with {BUILD}")
    return folder


def _cache() -> Path:
    own = os.environ.get("KC_SERVICES_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kube-collector-tests"


def _sum() -> str:
    return hashlib.sha256((HERE / "kube-binaries/kube/go.sum").read_bytes()).hexdigest()[:12]


def poll(what: str, condition: Callable[[], object], limit_s: float = 120.0) -> None:
    """Waits until `condition` holds; fails, saying `what` did not happen, after `limit_s`.

    The limit ends a wait that is in vain; it is no claim about speed, so it is long enough for a slow and busy machine.
    """
    deadline_s = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline_s:
            pytest.fail(f"not within {limit_s:g} s: {what}")
        time.sleep(0.05)


def free_port() -> int:
    """A port that nobody has, and that nobody is given who lets the kernel choose: those begin at 32768.

    None is given twice: between here and its program's start, or while that is down, it would seem free.
    """
    chance = random.SystemRandom()  # not the one that every test of every worker begins with the same seed
    for _ in range(100):
        port = chance.randrange(20_000, 32_768)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            if port not in _given_ports:
                _given_ports.add(port)
                return port
    raise OSError("no port from 20000 to 32767 is free")


class Program:
    """One server process with its log file."""

    def __init__(self, name: str, command: list[str], folder: Path) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self._command = command
        self._home = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        # If the test run is killed, the kernel takes its servers along.
        guard = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*guard, *self._command],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "HOME": str(self._home)},
            )

    def wait_until(self, ready: Callable[[], bool], limit_s: float = 300.0) -> None:
        poll(f"{self.name} is ready", lambda: self._alive() and ready(), limit_s)

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def stop(self, patience_s: float = 5.0) -> None:
        """SIGTERM, and SIGKILL for what does not go by itself."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _alive(self) -> bool:
        assert self._process is not None
        if self._process.poll() is None:
            return True
        pytest.fail(
            f"{self.name} ended with {self._process.returncode}:\n{self.log.read_text(errors='replace')[-3000:]}"
        )


class Cluster:
    """See the module. `folder` holds everything it writes."""

    def __init__(
        self, found_in: Path, folder: Path, *, tier: int = 1, api_flags: tuple[str, ...] = (), gates: str = ""
    ) -> None:
        """`gates`: feature gates for all programs, `A=true,B=true`."""
        self.folder = folder
        self._found_in = found_in
        self._tier = tier
        self._gates = [f"--feature-gates={gates}"] if gates else []
        self._etcd_port, self.port = free_port(), free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self._running: list[Program] = []
        self._api_flags = [*api_flags, *self._gates]
        self._allowed: dict[str, tuple[str, list[Rule]]] = {}

    def __enter__(self) -> Cluster:
        try:
            self._prepare()
            self._start_etcd()
            self._api = self._program("kube-apiserver", self._api_arguments())
            self._start_api()
            if self._tier >= 3:
                self._start_controllers()
            if self._tier >= 2:
                self._start_scheduler()
            if self._tier >= 3:
                self._start_kwok()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for program in reversed(self._running):
            program.stop()
        self._running.clear()

    def kubeconfig(self, user: str = "admin", *, auth: dict[str, Any] | None = None, ca: Path | None = None) -> Path:
        """A file for `user`; `auth` replaces its token (for example `{"tokenFile": …}`), `ca` the server's certificate."""
        name = user.rpartition(":")[2]
        path = self.folder / f"{name}-{hashlib.sha256(repr((auth, ca)).encode()).hexdigest()[:8]}.kubeconfig"
        cluster = {"server": self.url, "certificate-authority": str(ca or self.ca)}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": name, "user": auth or {"token": f"{name}-token"}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": name}}],
        }
        path.write_text(json.dumps(content))  # YAML contains JSON
        return path

    def request(self, method: str, path: str, body: Any = None, *, media: str = "application/json") -> Any:
        """As `admin`; returns the answer's JSON. Raises urllib.error.HTTPError for an error answer."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {"Authorization": "Bearer admin-token", "Content-Type": media}
        return json.loads(self._ask(urllib.request.Request(self.url + path, data, headers, method=method), 60))

    def _ask(self, asked: urllib.request.Request, timeout_s: float) -> bytes:
        context = ssl.create_default_context(cafile=str(self.ca))
        try:
            with urllib.request.urlopen(asked, context=context, timeout=timeout_s) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            error.close()  # it holds a socket, which must not stay open until somebody collects garbage
            raise

    def patch(self, path: str, body: Any) -> Any:
        return self.request("PATCH", path, body, media="application/merge-patch+json")

    def allow(self, user: str, rules: list[Rule], name: str | None = None) -> str:
        """Binds `user` to a cluster role with `rules`; returns the role's name, for `forbid`. It holds from now on."""
        role = name or f"test-{user}"
        rbac = "/apis/rbac.authorization.k8s.io/v1"
        self.request("POST", f"{rbac}/clusterroles", {"metadata": {"name": role}, "rules": rules})
        binding = {
            "metadata": {"name": role},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}],
        }
        self.request("POST", f"{rbac}/clusterrolebindings", binding)
        poll(f"{role} holds", lambda: self.may(user, rules[0]))
        self._allowed[role] = user, rules
        return role

    def forbid(self, role: str) -> None:
        """Takes back what `allow` gave, which nothing else may give the user. It holds from now on."""
        rbac = "/apis/rbac.authorization.k8s.io/v1"
        self.request("DELETE", f"{rbac}/clusterrolebindings/{role}")
        self.request("DELETE", f"{rbac}/clusterroles/{role}")
        user, rules = self._allowed.pop(role)
        poll(f"{role} holds no more", lambda: not self.may(user, rules[0]))

    def may(self, user: str, rule: Rule) -> bool:
        """Whether the server lets the user do what a rule says first; it reads roles a little after they were written."""
        group = rule["apiGroups"][0]
        asked = {"group": "" if group == "*" else group, "resource": rule["resources"][0], "verb": rule["verbs"][0]}
        review = {"spec": {"user": user, "resourceAttributes": asked}}
        answer = self.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
        return bool(answer["status"]["allowed"])

    def restart_api(self, patience_s: float = 3.0) -> None:
        """Stops the API server in order (open watches may outlive that, so not for long), and starts it again."""
        self._api.stop(patience_s)
        self._start_api()

    def kill_api(self) -> None:
        self._api.signal(signal.SIGKILL)
        self._api.stop()

    def start_api(self) -> None:
        self._start_api()

    def freeze_api(self) -> None:
        """The server stays there and answers nobody, until `thaw_api`."""
        self._api.signal(signal.SIGSTOP)

    def thaw_api(self) -> None:
        self._api.signal(signal.SIGCONT)

    def compact(self) -> str:
        """Makes etcd forget all revisions before the newest; returns that one."""
        revision = self._etcd("kv/range", {"key": "eA=="})["header"]["revision"]
        self._etcd("kv/compaction", {"revision": revision, "physical": True})
        return str(revision)

    def copy_etcd(self, to: Path) -> None:
        """Stops everything for a moment and copies what etcd holds, for `restore_etcd`."""
        self._without_servers(lambda: shutil.copytree(self._etcd_folder, to))

    def restore_etcd(self, older: Path) -> None:
        """Puts an older copy in etcd's place: objects and versions are as they were then."""

        def put_back() -> None:
            shutil.rmtree(self._etcd_folder)
            shutil.copytree(older, self._etcd_folder)

        self._without_servers(put_back)

    def _without_servers(self, work: Callable[[], object]) -> None:
        self.kill_api()
        self._etcd_program.stop()
        work()
        self._etcd_program.start()
        self._etcd_program.wait_until(self._etcd_answers)
        self._start_api()

    def store(self, key: str, value: Any) -> None:
        """Writes an object (None: deletes it) behind the API server's back, as another server of the cluster would.

        `key` is the one below `/registry/`, such as `pods/NAMESPACE/NAME`.
        """
        name = base64.b64encode(f"/registry/{key}".encode()).decode()
        if value is None:
            self._etcd("kv/deleterange", {"key": name})
        else:
            self._etcd("kv/put", {"key": name, "value": base64.b64encode(json.dumps(value).encode()).decode()})

    def expire_versions(self) -> None:
        """To be called while the API server is down: no watch of before can be resumed when it is up again.

        Its caches begin at etcd's revision, which is beyond anybody's version then; events have no cache, so what is
        older is compacted too.
        """
        for number in range(3):  # a watch asks for what follows its version, and that must be compacted as well
            self.store(f"kube-collector-tests/{number}", {})
        self.compact()

    @property
    def ca(self) -> Path:
        return self.folder / "apiserver.crt"

    # How each program is started

    def _prepare(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        key = [
            "openssl",
            "genpkey",
            "-algorithm",
            "RSA",
            "-pkeyopt",
            "rsa_keygen_bits:2048",
            "-out",
            self.folder / "sa.key",
        ]
        subprocess.run(key, check=True, stderr=subprocess.DEVNULL)
        tokens = self.folder / "tokens.csv"
        tokens.touch(mode=0o600)
        lines = [f'{user.rpartition(":")[2]}-token,{user},{user},"{group}"' for user, group in USERS.items()]
        tokens.write_text("\n".join(lines) + "\n")

    def _start_etcd(self) -> None:
        client, peer = f"http://127.0.0.1:{self._etcd_port}", f"http://127.0.0.1:{free_port()}"
        arguments = [
            f"--data-dir={self._etcd_folder}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ]
        self._etcd_program = self._program("etcd", arguments)
        self._etcd_program.start()
        self._etcd_program.wait_until(self._etcd_answers)

    def _api_arguments(self) -> list[str]:
        without_accounts = ["--disable-admission-plugins=ServiceAccount"] if self._tier < 3 else []
        return [
            f"--etcd-servers=http://127.0.0.1:{self._etcd_port}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={self.port}",
            "--endpoint-reconciler-type=none",
            f"--cert-dir={self.folder}",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--authorization-mode=Node,RBAC",
            "--anonymous-auth=false",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--allow-privileged=true",
            "--profiling=false",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self.folder / 'sa.key'}",
            f"--service-account-signing-key-file={self.folder / 'sa.key'}",
            *without_accounts,
            *self._api_flags,
        ]

    def _start_api(self) -> None:
        self._api.start()
        self._api.wait_until(self._api_is_ready)

    def _api_is_ready(self) -> bool:
        try:
            self.request("GET", "/api/v1/namespaces/default")
            headers = {"Authorization": "Bearer admin-token"}
            asked = urllib.request.Request(f"{self.url}/readyz", headers=headers)
            self._ask(asked, 20)
        except (OSError, http.client.HTTPException):
            return False
        return True

    def _start_scheduler(self) -> None:
        port, own = free_port(), self.kubeconfig("system:kube-scheduler")
        arguments = [
            f"--kubeconfig={own}",
            f"--authentication-kubeconfig={own}",
            f"--authorization-kubeconfig={own}",
            "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics",
            "--leader-elect=false",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--cert-dir={self.folder / 'scheduler'}",
            *self._gates,
        ]
        scheduler = self._program("kube-scheduler", arguments)
        scheduler.start()
        scheduler.wait_until(lambda: _answers(f"https://127.0.0.1:{port}/readyz", "ok"))

    def _start_controllers(self) -> None:
        arguments = [
            f"--kubeconfig={self.kubeconfig('system:kube-controller-manager')}",
            "--leader-elect=false",
            "--bind-address=127.0.0.1",
            f"--secure-port={free_port()}",
            f"--cert-dir={self.folder / 'controllers'}",
            "--use-service-account-credentials=true",
            f"--service-account-private-key-file={self.folder / 'sa.key'}",
            f"--root-ca-file={self.ca}",
            *self._gates,
        ]
        controllers = self._program("kube-controller-manager", arguments)
        controllers.start()
        controllers.wait_until(lambda: self._exists("/api/v1/namespaces/default/serviceaccounts/default"))

    def _start_kwok(self) -> None:
        port = free_port()
        arguments = [
            f"--kubeconfig={self.kubeconfig('kwok')}",
            f"--config={HERE / 'kube-binaries/kwok-stages.yaml'}",
            "--manage-nodes-with-label-selector=type=kwok",
            f"--server-address=127.0.0.1:{port}",
            "--node-lease-duration-seconds=40",
            "--node-ip=10.100.0.1",
            "--cidr=10.200.0.0/16",
        ]
        kwok = self._program("kwok", arguments)
        kwok.start()
        kwok.wait_until(lambda: _answers(f"http://127.0.0.1:{port}/healthz", ""))

    def _program(self, name: str, arguments: list[str]) -> Program:
        program = Program(name, [str(self._found_in / name), *arguments], self.folder)
        self._running.append(program)
        return program

    @property
    def _etcd_folder(self) -> Path:
        return self.folder / "etcd"

    def _etcd_answers(self) -> bool:
        return _answers(f"http://127.0.0.1:{self._etcd_port}/health", "true")

    def _exists(self, path: str) -> bool:
        try:
            self.request("GET", path)
        except (OSError, http.client.HTTPException):
            return False
        return True

    def _etcd(self, path: str, body: Any) -> Any:
        asked = urllib.request.Request(
            f"http://127.0.0.1:{self._etcd_port}/v3/{path}", json.dumps(body).encode(), method="POST"
        )
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return json.load(answer)


def _answers(url: str, text: str) -> bool:
    """Whether a health address of a program of ours answers 200 with `text` in it; its own certificate is not checked."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    try:
        with urllib.request.urlopen(url, context=trusting, timeout=20) as answer:
            return text in answer.read().decode()
    except (OSError, http.client.HTTPException):
        return False
