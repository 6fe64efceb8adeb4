"""A TCP proxy before a real server, for what only the way between can do: swallow bytes, cut, refuse, lose one leg.

    with Proxy(kube.port) as proxy:
        proxy.swallow()      # connections stay, nothing passes: a half-open way
        proxy.cut()          # all connections end with RST
        proxy.refuse()       # the port is closed, until `listen`

Bytes pass as they are, so TLS is the server's own; `proxy.kubeconfig(path)` is the same file with the proxy's address.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

_PIECE_BYTES = 64 * 1024


class Proxy:
    """Listens on a free port of 127.0.0.1; a context manager that leaves nothing behind. Methods are for the test's thread."""

    def __init__(self, port: int) -> None:
        self._upstream = port
        self._refusals = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy")
        self._server: asyncio.Server | None = None
        self._legs: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()
        self._passing = asyncio.Event()
        self.port = 0
        self.accepted = 0
        """Connections taken so far."""

    def __enter__(self) -> Proxy:
        self._thread.start()
        self._passing.set()
        self.listen()
        return self

    def __exit__(self, *_: object) -> None:
        self.refuse()
        self._call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def open(self) -> int:
        """Connections that stand now."""
        return len(self._legs)

    def kubeconfig(self, path: Path) -> Path:
        """A copy of a kubeconfig (in JSON) that leads through here."""
        content = json.loads(path.read_text())
        content["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{self.port}"
        own = path.with_name(f"{path.stem}-through-{self.port}.kubeconfig")
        own.write_text(json.dumps(content))
        return own

    def listen(self) -> None:
        """Takes connections, again on the same port."""
        self._call(self._listen())

    def refuse(self) -> None:
        """Closes the port and cuts what is open."""
        self._call(self._refuse())
        self.cut()

    def cut(self) -> None:
        """Ends every connection with RST."""
        self._on_loop(lambda: [_reset(leg) for pair in list(self._legs) for leg in pair])

    def swallow(self) -> None:
        """Connections stay and are taken, and nothing passes in either direction any more."""
        self._on_loop(self._passing.clear)

    def pass_on(self) -> None:
        """Lets through what comes from now on, and what was held back."""
        self._on_loop(self._passing.set)

    def lose_upstream(self) -> None:
        """The server's legs end; the client's legs stay open and silent, as behind some load balancers."""
        self._on_loop(lambda: [_reset(upstream) for _, upstream in list(self._legs)])

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _refuse(self) -> None:
        self._refusals += 1
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        refusals = self._refusals
        try:
            back, forth = await asyncio.open_connection("127.0.0.1", self._upstream)
        except OSError:
            _reset(writer)
            return
        if refusals != self._refusals:  # the way was closed while this one was being opened
            _reset(writer)
            _reset(forth)
            return
        pair = (writer, forth)
        self._legs.add(pair)
        client = asyncio.create_task(self._pump(reader, forth))
        server = asyncio.create_task(self._pump(back, writer))
        try:
            await client  # a lost server leaves the client's leg open
        finally:
            server.cancel()
            self._legs.discard(pair)
            for leg in pair:
                leg.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(_PIECE_BYTES):
                await self._passing.wait()
                if not writer.is_closing():
                    writer.write(data)
                    await writer.drain()

    async def _end(self) -> None:
        own = asyncio.current_task()
        tasks = [task for task in asyncio.all_tasks() if task is not own]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _call(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10.0)

    def _on_loop(self, work: Callable[[], object]) -> None:
        async def run() -> None:
            work()

        self._call(run())


def _reset(writer: asyncio.StreamWriter) -> None:
    """Ends a connection at once with RST."""
    own = writer.get_extra_info("socket")
    if own is not None and own.fileno() >= 0:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
