"""A text in the form people and scripts read: what a scheduler's message means, in one table."""

from __future__ import annotations

from typing import Any

from aggregation.messages.reader import parse


def explain(text: str) -> dict[str, Any]:
    """`{"total_nodes": N or None, "reasons": [{"category", "resource", "nodes", "detail"}, ...]}`, in text order."""
    message = parse(text)
    return {
        "total_nodes": message.total_nodes,
        "reasons": [
            {"category": one.category, "resource": one.resource, "nodes": one.nodes, "detail": one.detail}
            for one in message.reasons
        ],
    }


def rows(text: str) -> list[tuple[str, str, str, str]]:
    """Category, resource, nodes and detail of each reason as words, `-` for what the text does not say."""
    return [
        (one.category, one.resource or "-", "-" if one.nodes is None else str(one.nodes), one.detail or "-")
        for one in parse(text).reasons
    ]
