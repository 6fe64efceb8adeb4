"""Runs the benchmarks that are named, or all of them."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import benchmarks
from benchmarks import native

_PARTS = {"__main__", "figures", "native", "objects", "lives", "recorded", "stack", "fleets"}
_LONG = {"day"}
"""Run only when they are named."""


def names() -> list[str]:
    """Every benchmark: a module with `run() -> Iterable[Figure]`."""
    return [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name not in _PARTS]


def main(wanted: list[str]) -> int:
    """One process a benchmark, so that none inherits another's memory. 1 if one failed, 2 for a name that is none.

    `--once` runs one of the scheduler core's on the core that this process finds.
    """
    once = wanted[:1] == ["--once"]
    wanted = wanted[once:]
    unknown = set(wanted) - set(names())
    if unknown:
        sys.stderr.write(f"no benchmark is called {', '.join(sorted(unknown))}; there are {', '.join(names())}\n")
        return 2
    if len(wanted) == 1:
        return _run(wanted[0], once)
    codes = [
        subprocess.run([sys.executable, "-m", "benchmarks", name], check=False).returncode
        for name in wanted or sorted({*names()} - _LONG)
    ]
    return int(any(codes))


def _run(name: str, once: bool) -> int:
    if not once and name in native.TWICE and native.stands():
        for line in native.lines(name):
            print(line, flush=True)
        return 0
    for figure in importlib.import_module(f"benchmarks.{name}").run():
        sys.stdout.buffer.write(figure.line() + b"\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
