"""Where everything lies inside the data folder: stages that meet on disk must agree on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Places:
    """Paths below `data_dir`. Nothing is created here."""

    data_dir: Path

    @property
    def spool(self) -> Path:
        """The collector's folder."""
        return self.data_dir / "spool"

    @property
    def records(self) -> Path:
        """The log of records."""
        return self.spool / "records"

    @property
    def dead_letters(self) -> Path:
        """Input of the collector that could not be understood."""
        return self.spool / "dead"

    @property
    def collector_db(self) -> Path:
        """Checkpoint and known objects of the collector."""
        return self.spool / "collector.db"

    @property
    def aggregation_db(self) -> Path:
        """State and outbox of the aggregation."""
        return self.data_dir / "aggregation" / "aggregation.db"

    @property
    def snapshots(self) -> Path:
        """Snapshots of the shadow scheduler."""
        return self.data_dir / "scheduler"

    @property
    def doris(self) -> Path:
        """Files of the local Doris."""
        return self.data_dir / "doris"
