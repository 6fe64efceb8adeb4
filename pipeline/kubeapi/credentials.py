"""Who we are to the API server, and where it is: from a kubeconfig, or from the pod we run in.

The official client reads kubeconfigs, exec plugins and service accounts. Two things it leaves out are here. A token that
lives in a file is read for every connection: the kubelet replaces it within the hour, others within the day, and a
client that keeps the old string is refused from then on. And `read_again` starts from the sources, for when the server
refuses us all the same: an exec plugin is asked anew, a kubeconfig that was rewritten is read as it is now.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from kubernetes import client, config
from kubernetes.config import kube_config

from pipeline.errors import Transient, UserError

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class Credentials:
    """What a connection needs: `configuration` (the official client's: host, TLS, proxy) and `authorization()`."""

    def __init__(self, kubeconfig: Path | None = None, context: str | None = None) -> None:
        """Without `kubeconfig`: the pod's service account if there is one, else `$KUBECONFIG`, else `~/.kube/config`.

        Raises UserError when there is nothing to be read, or nothing that makes sense.
        """
        self._kubeconfig = kubeconfig
        self._context = context
        self.configuration, self._token_file = self._read()

    @property
    def host(self) -> str:
        """URL of the API server, without a slash at the end."""
        return str(self.configuration.host).rstrip("/")

    def authorization(self) -> str | None:
        """Value of the `Authorization` header of a new connection; None if a client certificate says who we are.

        Raises Transient when a token cannot be had now.
        """
        try:
            if self._token_file is not None:
                return f"Bearer {self._token_file.read_text().strip()}"
            return self.configuration.get_api_key_with_prefix("BearerToken")  # type: ignore[no-any-return]
        except (OSError, UnicodeDecodeError, config.ConfigException) as error:
            raise Transient(f"cannot read our token: {error}") from error

    def read_again(self) -> None:
        """Starts from the sources. Raises Transient when they cannot be read now; the old ones stay in use."""
        try:
            self.configuration, self._token_file = self._read()
        except UserError as error:
            raise Transient(f"cannot read our credentials again: {error}") from error

    def _read(self) -> tuple[Any, Path | None]:
        configuration = client.Configuration()
        if self._kubeconfig is None and self._context is None and in_cluster(os.environ):
            return configuration, _read_service_account(configuration)
        return configuration, _read_kubeconfig(configuration, self._kubeconfig, self._context)


def in_cluster(environ: Mapping[str, str]) -> bool:
    """Whether this process runs in a pod that has a service account."""
    return bool(environ.get("KUBERNETES_SERVICE_HOST")) and (SERVICE_ACCOUNT / "token").is_file()


def _read_service_account(configuration: Any) -> Path:
    try:
        config.load_incluster_config(client_configuration=configuration)
    except (OSError, config.ConfigException) as error:
        raise UserError(f"the pod's service account cannot be used: {error}", where=str(SERVICE_ACCOUNT)) from error
    return SERVICE_ACCOUNT / "token"


def _read_kubeconfig(configuration: Any, path: Path | None, context: str | None) -> Path | None:
    """Fills `configuration`; returns the file that holds the token, if one does."""
    where = str(path or kube_config.KUBE_CONFIG_DEFAULT_LOCATION)
    fix = "Name one with --kubeconfig, or set KUBECONFIG; `kubectl config get-contexts` lists the contexts."
    if path is not None and not path.exists():
        raise UserError("there is no such file", where=where, fix=fix)
    try:
        config.load_kube_config(str(path) if path else None, context, client_configuration=configuration)
        return _token_file(where, context)
    except (OSError, ValueError, TypeError, yaml.YAMLError, config.ConfigException) as error:
        said = " ".join(str(error).split())  # a YAML error comes with its place, in lines of its own
        raise UserError(f"the kubeconfig cannot be used: {said}", where=where, fix=fix) from error


def _token_file(paths: str, context: str | None) -> Path | None:
    """The `tokenFile` of the context's user; it comes before a token in the same entry, as it does for kubectl."""
    merged = kube_config.KubeConfigMerger(paths).config
    name = context or merged["current-context"]
    user_name = merged["contexts"].get_with_name(name)["context"].safe_get("user")
    entry: Any = merged["users"].get_with_name(user_name, safe=True) if merged.safe_get("users") else None
    if entry is None or not entry.safe_get("user"):
        return None
    token_file = entry["user"].safe_get("tokenFile")
    return Path(entry.path).parent / str(token_file) if token_file else None
