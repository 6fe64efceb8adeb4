"""`python -m sinks.doris.sql FOLDER`: writes every statement that is shipped, one file each, for a check by Doris' grammar.

Tables and views are ours; other rooms bring theirs by entry points of the group `kube_collector.sql`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pipeline import extensions
from sinks.doris import shipped


def write(folder: Path) -> int:
    """Writes `NN_name.sql`, numbered in the order in which they can be run. Returns how many."""
    folder.mkdir(parents=True, exist_ok=True)
    statements = shipped.statements()
    for extension in extensions.found(extensions.SQL):
        statements |= extension.load()()
    for number, (name, statement) in enumerate(statements.items(), start=1):
        (folder / f"{number:02d}_{name}.sql").write_text(f"{statement};\n", encoding="utf-8")
    return len(statements)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m sinks.doris.sql FOLDER")
    print(f"{write(Path(sys.argv[1]))} statements in {sys.argv[1]}")  # noqa: T201
