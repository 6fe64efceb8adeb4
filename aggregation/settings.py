"""What can be set about the aggregation."""

from __future__ import annotations

from typing import Annotated

import pydantic

from pipeline.config import fields


class Settings(fields.Section):
    """From records to judged waits."""

    default_waiting_time: fields.DurationMs | None = None
    """Waiting time promised to every job that has no readable promise of its own; none without it."""
    at_risk_share: Annotated[float, pydantic.Field(gt=0, lt=1)] = 0.8
    """Share of the promise after which an open wait counts as at risk."""
    keep_finished: fields.DurationMs = 6 * 3_600_000
    """How long the state of a job that has ended is kept for late evidence."""
    batch_records: Annotated[int, pydantic.Field(ge=1, le=100_000)] = 20_000
    """Records that are applied in one transaction at most."""
