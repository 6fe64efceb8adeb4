"""Lines into Doris: one Stream Load each, under a label of this run and these bytes."""

from __future__ import annotations

import hashlib

from pipeline import clock
from pipeline.doris import errors, replies
from pipeline.doris.streamload import StreamLoad
from pipeline.telemetry import logs

PREFIX = "kc"

log = logs.get(__name__)


class DorisTarget:
    """A `sinks.base.Target`. A repeated load has the bytes and the label of the first try, so it loads at most once."""

    def __init__(self, client: StreamLoad | None = None) -> None:
        self.client = client
        """Replaced when the address changes; None while there is none."""
        self._run = format(clock.now_ms(), "x")
        self._tries = 0

    def load(self, table: str, lines: list[bytes]) -> None:
        """Loads all lines or none. Raises BadRows or Transient."""
        if self.client is None:
            raise errors.Offline("there is no connection to the warehouse yet")
        body = b"\n".join(lines)
        label = self.label(table, body)
        try:
            result = self.client.load(table, body, rows=len(lines), label=label)
        except errors.RowsLost:
            self._tries += 1  # the label is used up by a load that counted too few rows
            raise
        if result.outcome is not replies.Outcome.LOADED:
            log.info("load_ended_otherwise", outcome=result.outcome.value, table=table, label=label)

    def label(self, table: str, body: bytes) -> str:
        """`kc:TABLE:RUN-n:HASH`, at most 128 characters of the set that Doris allows."""
        digest = hashlib.blake2b(body, digest_size=16).hexdigest()
        return f"{PREFIX}:{table}:{self._run}-{self._tries}:{digest}"
