"""A process that writes a log, for tests that kill it: `log_child.py DIRECTORY COMMAND [NUMBER]`.

write FIRST  numbered lines for ever, in batches of several disk writes; prints `N` once line N is synced
hold         takes the log, prints `ready`, waits for its stdin to end
once         waits for a line on stdin, then writes one line
small        writes with a file size limit in its way, then without; prints what happened
"""

from __future__ import annotations

import itertools
import resource
import sys
from pathlib import Path

import msgspec

from pipeline.log import LogFull, LogOptions, LogWriter

OPTIONS = LogOptions(cluster="c1", min_free_bytes=0, segment_bytes=4 << 20)


def line(number: int, size: int = 2000) -> bytes:
    return msgspec.json.encode({"id": f"c1/{number}", "observedms": 1000 + number, "data": "x" * size})


def put(writer: LogWriter, numbers: range) -> None:
    writer.append([line(number) for number in numbers], [1000 + number for number in numbers])


def write(writer: LogWriter, first: int) -> None:
    for begin in itertools.count(first, 400):
        put(writer, range(begin, begin + 400))
        writer.sync()
        print(begin + 399, flush=True)


def small(writer: LogWriter) -> None:
    put(writer, range(10))
    writer.sync()
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
    put(writer, range(10, 200))
    try:
        writer.sync()
    except LogFull as error:
        print(error, flush=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    writer.sync()
    print("done", flush=True)


def main(directory: str, command: str, *rest: str) -> None:
    with LogWriter(Path(directory), options=OPTIONS) as writer:
        print("ready", flush=True)
        if command == "write":
            write(writer, int(rest[0]))
        elif command == "hold":
            sys.stdin.read()
        elif command == "once":
            sys.stdin.readline()
            put(writer, range(1))
        elif command == "small":
            small(writer)


if __name__ == "__main__":
    main(*sys.argv[1:])
