"""What there is to choose from: clusters, namespaces, queues, tenants, the closed list of reasons, languages."""

from __future__ import annotations

from importlib import metadata

from msgspec import structs

from dashboards.figures.asked import Asked, fresh
from dashboards.objects import Meta, ReasonCode
from pipeline import extensions
from pipeline.records import reasons, words


def made(asked: Asked, lag_alarm_ms: int) -> Meta:
    """All of it; from `lag_alarm_ms` on the page calls its data stale."""
    rows = asked.store.rows("choices", limit=asked.store.max_rows)
    return Meta(
        version=metadata.version(extensions.OWN),
        clusters=sorted({row["cluster"] for row in rows} | {row["cluster"] for row in asked.store.rows("progress")}),
        namespaces=_several(rows, "namespace"),
        queues=_several(rows, "queue"),
        tenants=_several(rows, "tenant"),
        reasons=[ReasonCode(code, words.title(asked.lang, code), at) for at, code in enumerate(reasons.CODES)],
        languages=list(words.LANGUAGES),
        lag_alarm_ms=lag_alarm_ms,
        **structs.asdict(fresh(asked)),
    )


def _several(rows: list[dict[str, str]], column: str) -> list[str]:
    return sorted({row[column] for row in rows if row[column]})
