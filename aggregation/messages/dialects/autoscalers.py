"""cluster-autoscaler: why it adds no node for a pod. It counts node groups, never nodes.

Also what follows when it does add some (`triggered scale-up`), and the descheduler's refusals: both speak of nodes that
come and pods that go, not of why a pod waits.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from aggregation.messages import filters, node_list
from aggregation.messages.message import Message, Said, said
from aggregation.messages.rules import Inner, first, rule, says, silent

_SKIPPED: Final = (
    rule(r"max node group size reached|max limit reached", says("other", "max_node_group_size")),
    rule(r"in backoff after failed scale-up", says("other", "scale_up_backoff")),
    rule(r"not ready for scale-up", says("other", "not_ready_for_scale_up")),
    rule(r"max cluster (?P<what>.*?) ?limit reached|max (?:total )?nodes|max node total",
         says("other", "autoscaler_limit")),
    rule(r"vertically scaled|resource limit", says("other", "autoscaler_limit")),
)  # fmt: skip


def _group_words(words: str) -> tuple[Said, ...]:
    found = first(_SKIPPED, words, silent)
    named = found.reasons if found else filters.meaning(words)
    return tuple(msgspec.structs.replace(one, detail=f"{one.detail or ''} node_group".strip()) for one in named)


def _not_triggered(match: re.Match[str], inner: Inner) -> Message:
    quoted = node_list.read(match["groups"] or "", None, _group_words)
    return quoted if quoted.reasons else Message(reasons=(said("other", "no_reason_given"),))


RULES: Final = (
    rule(r"pod didn't trigger scale-up(?: \([^)]*\))?:?\s*(?P<groups>.*)", _not_triggered),
    rule(r"scale[ -]up\b[^:]*failed: .*quota", says("quota", "cloud_provider_quota")),
    rule(r"scale[ -]up\b[^:]*failed", says("other", "scale_up_failed")),
    rule(r"triggered scale-up", says("other", "scale_up", no_evidence=True)),
    rule(r"^pod eviction from .*failed: .*limit", says("other", "eviction_limit", no_evidence=True)),
    rule(r"^pod evict(?:ed|ion) from ", says("other", "descheduler", no_evidence=True)),
)  # fmt: skip
