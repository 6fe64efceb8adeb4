"""`kube-collector collect`, `record`, `replay` and `rbac`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli import options

if TYPE_CHECKING:
    from pipeline.cli.checks import CheckResult
    from pipeline.config.load import Loaded

Kubeconfig = Annotated[
    Path | None,
    typer.Option(
        "--kubeconfig", metavar="PATH", help="Way to the cluster; without it the usual places.", show_default=False
    ),
]
Speed = Annotated[str, typer.Option("--speed", metavar="PACE", help="1x, 30x, max, or phases such as 30x@70s,1x.")]


def collect(kubeconfig: Kubeconfig = None, config: options.ConfigFiles = None, sets: options.Sets = None) -> int:
    """Follow a cluster and write what it says to the spool until stopped.

    Examples:
      kube-collector collect --kubeconfig ~/.kube/config
      kube-collector collect --set cluster.name=prod --set data_dir=/var/lib/kube-collector
    """
    from collector import app
    from pipeline.process import data_folder, supervisor

    loaded = options.settings(config, sets, {"collector.kubeconfig": kubeconfig})
    stage = app.stage(loaded)
    data_folder.prepare(loaded.ground.data_dir)
    return supervisor.run([stage], loaded)


def replay(
    recording: Annotated[Path, typer.Argument(metavar="RECORDING", help="Folder of recorded watches.")],
    speed: Speed = "max",
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
) -> int:
    """Write a recording's frames to the spool, as if the cluster were watched; ends with the recording.

    Examples:
      kube-collector replay examples/kube-a
      kube-collector replay incident-42 --speed 60x --set data_dir=/tmp/incident
    """
    from collector.replay import runs

    return runs.replay(recording, speed, config, sets)


def record(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder that does not exist yet.")],
    duration: Annotated[
        str | None,
        typer.Option("--for", metavar="DURATION", help="Stop after this long, such as 10m.", show_default=False),
    ] = None,
    kubeconfig: Kubeconfig = None,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
) -> int:
    """Record what a cluster sends to files that `replay` and `up --replay` read; secrets are left out as ever.

    Examples:
      kube-collector record incident-42 --for 10m
      kube-collector record monday --kubeconfig prod.kubeconfig
    """
    from collector.replay import runs

    return runs.record(folder, duration, options.settings(config, sets, {"collector.kubeconfig": kubeconfig}))


def rbac(
    service_account: Annotated[
        str, typer.Option("--service-account", metavar="NAME", help="Account that the role is bound to.")
    ] = "kube-collector",
    namespace: Annotated[str, typer.Option("--namespace", "-n", help="Namespace of the account.")] = "kube-collector",
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
) -> None:
    """Print the least role that the settings need, and its binding, as YAML.

    Examples:
      kube-collector rbac | kubectl apply -f -
      kube-collector rbac --service-account observer -n monitoring
    """
    from collector import app, rights
    from collector.settings import Settings

    kinds = app.kinds(options.settings(config, sets).of(Settings))
    typer.echo(rights.role(kinds, service_account=service_account, namespace=namespace), nl=False)


def check(loaded: Loaded) -> list[CheckResult]:
    """For `doctor`: the cluster answers, and every kind may be listed and watched."""
    from collector import rights

    return rights.check(loaded)
