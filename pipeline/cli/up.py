"""`kube-collector up` and `demo`: every installed stage in one process, from the cluster to the page."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline import extensions
from pipeline.cli import options, replays, terminal
from pipeline.errors import UserError

if TYPE_CHECKING:
    from pipeline.config.load import Loaded

DEMO = "kube-a"
DEMO_SPEED = "30x@70s,1x"
DEMO_FOLDER = Path("data") / "demo"
"""Of the demo, whatever a settings file or a variable says: the folder they name is a real cluster's, not to be emptied."""
_MARK = ".kube-collector-demo"
"""Stands in the demo's data folder, and is locked while a demo runs: only a folder with it is ever emptied."""

Port = Annotated[
    int | None,
    typer.Option("--port", "-p", metavar="PORT", help="Port of the page; 8080 unless set.", show_default=False),
]
DataDir = Annotated[
    Path | None, typer.Option("--data-dir", metavar="PATH", help="Folder of all that is kept.", show_default=False)
]


def up(
    kubeconfig: Annotated[
        Path | None,
        typer.Option(
            "--kubeconfig", metavar="PATH", help="Way to the cluster; without it the usual places.", show_default=False
        ),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(
            "--replay", metavar="RECORDING", help="Play a recording in a cluster's place.", show_default=False
        ),
    ] = None,
    speed: Annotated[
        str, typer.Option("--speed", metavar="PACE", help="Pace of a replay: 1x, 30x, max, or 30x@70s,1x.")
    ] = "1x",
    port: Port = None,
    data_dir: DataDir = None,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
) -> int:
    """Run the whole pipeline in one process: follow a cluster, judge its waits, serve the page.

    Without a configured Doris a local one is started beside it. Ctrl-C drains and leaves nothing running.

    Examples:
      kube-collector up --kubeconfig ~/.kube/config
      kube-collector up --replay examples/kube-a --speed 10x
    """
    flags = {"collector.kubeconfig": kubeconfig, "dashboards.port": port, "data_dir": data_dir}
    if replay is None:
        loaded = options.settings(config, sets, flags)
    else:
        loaded = replays.settings(replay, speed, config, sets, flags)
    _require_port(loaded)
    return _run(loaded)


def demo(
    port: Port = None,
    data_dir: DataDir = None,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
) -> int:
    """Replay a recorded real cluster through the whole pipeline: the page answers within seconds.

    The recording has a cluster's first minutes with promises on its jobs: 30 times as fast to its second 70, then in step.
    Its data lies in data/demo unless the command line names another folder, and is emptied at each start.

    Examples:
      kube-collector demo
      kube-collector demo --port 9000
    """
    named = data_dir or options.settings(config, sets).origin(("data_dir",)).kind == "flag"
    flags = {"dashboards.port": port, "data_dir": data_dir if named else DEMO_FOLDER}
    loaded = replays.settings(_recording(), DEMO_SPEED, config, sets, flags)
    _require_port(loaded)
    _claim(loaded.ground.data_dir)
    return _run(loaded)


def _run(loaded: Loaded) -> int:
    """Raises UserError for a source or a data folder that cannot be used, before anything is made or started."""
    from pipeline.process import data_folder, supervisor
    from pipeline.process.stage import Observes

    *others, last = extensions.found(extensions.STAGES)
    # The source is the last to start and the first to be made: a bad way to the cluster is known before anything is written.
    source = last.load()(loaded)
    data_folder.prepare(loaded.ground.data_dir)
    stages = [*(extension.load()(loaded) for extension in others), source]
    terminal.hint("Starting: this takes some seconds.")
    for stage in stages:
        if isinstance(stage, Observes):
            stage.observe(stages)
    return supervisor.run(stages, loaded, started=lambda: _tell_where(loaded))


def _page(loaded: Loaded) -> tuple[str, int] | None:
    """Address and port of the page, if the page is installed."""
    page: object = loaded.sections.get("dashboards")
    return None if page is None else (getattr(page, "address", ""), getattr(page, "port", 0))


def _require_port(loaded: Loaded) -> None:
    """A taken port is found before anything is emptied or started."""
    from pipeline.process import ports

    page = _page(loaded)
    if page is not None:
        ports.require_free(*page, "dashboards.port", "--port")


def _tell_where(loaded: Loaded) -> None:
    """Where the page, the SQL port and the data are, once all of them are there."""
    from pipeline.config.places import Places
    from pipeline.doris import local
    from pipeline.doris.settings import Settings

    places = Places(loaded.ground.data_dir)
    doris = local.locate(loaded.of(Settings), places.doris)
    page = _page(loaded)
    lines = [] if page is None else [f"Page  http://{page[0]}:{page[1]}"]
    lines.append(
        f"SQL   mariadb -h {doris.host} -P {doris.query_port} -u {doris.user}{' -p' if doris.secret else ''} {doris.database}"
    )
    terminal.hint("\n".join([*lines, f"Data  {places.data_dir}", "Ctrl-C ends everything."]))


def _recording() -> Path:
    """The demo's recording: beside the packages in a checkout, inside them in an installed distribution."""
    home = Path(__file__).parent.parent
    places = (home / "examples" / DEMO, home.parent / "examples" / DEMO)
    for place in places:
        if place.is_dir():
            return place
    raise UserError(
        "the demo's recording is not installed", fix="Run it from a checkout, or use `up --replay RECORDING`."
    )


def _claim(folder: Path) -> None:
    """Empties the demo's own data folder and holds it for the life of this process.

    Raises UserError for a folder that another demo holds, that has anything else in it, or that cannot be written.
    """
    from pipeline.process import data_folder

    with data_folder.failures_named(folder):
        _require_own(folder)
        data_folder.prepare(folder)
        _hold(folder)
        for each in folder.iterdir():
            if each.is_dir():
                shutil.rmtree(each)
            elif each.name != _MARK:
                each.unlink()


def _require_own(folder: Path) -> None:
    mark = folder / _MARK
    if folder.is_dir() and any(folder.iterdir()) and not mark.exists():
        raise UserError(
            "the demo empties its data folder, and this one holds something else",
            where=str(folder),
            fix="Name another folder with --data-dir.",
        )


def _hold(folder: Path) -> None:
    from pipeline.log import lock

    try:
        lock.take(folder / _MARK, "the demo's data folder")
    except UserError as held:
        fix = "End that demo, or start this one beside it with --data-dir PATH and another --port."
        raise UserError(held.what, where=held.where, fix=fix) from held
