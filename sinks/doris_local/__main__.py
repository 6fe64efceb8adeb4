"""`python -m sinks.doris_local --path FOLDER`: the local Doris as a process of its own.

When it listens it prints one line of JSON with its ports, and nothing else on stdout. It ends on SIGTERM, or with
--stop-at-eof when its stdin does: the pipe of a parent, so a parent that is killed leaves nothing behind. SIGINT is
ignored, so that a Ctrl-C in the terminal stops the loader first and this after it; so is SIGHUP with a parent that it ends
with, which alone knows whether that is a closed terminal or a reload.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
from pathlib import Path

import msgspec

from pipeline import errors
from sinks.doris_local.engine import Limits
from sinks.doris_local.server import Options, Server

EXIT_FAILED = 70


def main(arguments: list[str] | None = None) -> int:
    """Serve until told to stop; the exit code."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=options.log_level, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    stopped = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if options.stop_at_eof:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    try:
        server = Server(_options(options))
    except errors.UserError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    except OSError as error:
        sys.stderr.write(f"error: a port cannot be listened on: {error}\n")
        return errors.CheckFailed.exit_code
    failed = threading.Event()

    def fail() -> None:
        failed.set()
        stopped.set()

    server.start(on_fatal=fail)
    if options.stop_at_eof:
        threading.Thread(target=_wait_for_eof, args=(stopped,), daemon=True).start()
    sys.stdout.write(msgspec.json.encode(server.ready).decode() + "\n")
    sys.stdout.flush()
    stopped.wait()
    if failed.is_set():
        os._exit(EXIT_FAILED)  # without a last checkpoint: the log of changes is whole, the database is not
    if not server.stop():
        os._exit(0)  # a thread is still inside DuckDB; leaving in the usual way would pull it away under its feet
    return 0


def _wait_for_eof(stopped: threading.Event) -> None:
    while os.read(0, 4096):
        pass
    stopped.set()


def _options(given: argparse.Namespace) -> Options:
    password = os.environ.get(given.password_env, "") if given.password_env else ""
    return Options(
        folder=given.path,
        http_port=given.http_port,
        backend_port=given.backend_port,
        mysql_port=given.mysql_port,
        password=password,
        faults=given.faults,
        limits=Limits(given.threads, given.memory_mb),
        lock_wait_s=given.lock_wait_s,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="doris_local", description="A stand-in for Apache Doris on DuckDB.")
    parser.add_argument("--path", type=Path, required=True, help="folder that holds the data")
    parser.add_argument("--http-port", type=int, default=0, help="frontend, Stream Load comes here (0: a free one)")
    parser.add_argument("--backend-port", type=int, default=0, help="backend, where the frontend redirects to")
    parser.add_argument("--mysql-port", type=int, default=0, help="SQL")
    parser.add_argument("--password-env", metavar="NAME", help="environment variable with root's password")
    parser.add_argument("--threads", type=int, default=Limits().threads, help="threads DuckDB may use")
    parser.add_argument("--memory-mb", type=int, default=Limits().memory_mb, help="memory DuckDB may use, in MB")
    parser.add_argument(
        "--lock-wait-s", type=float, default=0.0, help="seconds to wait for another process that still has the data"
    )
    parser.add_argument("--stop-at-eof", action="store_true", help="end when stdin ends")
    parser.add_argument("--faults", action="store_true", help="offer /_fault, which makes the server misbehave")
    parser.add_argument("--log-level", default="WARNING", choices=["DEBUG", "INFO", "WARNING", "ERROR"])
    return parser


if __name__ == "__main__":
    sys.exit(main())
