"""The dialects: one module for each writer of texts, all of one shape, tried in the order of `DIALECTS`.

A module holds `RULES`, the sentences its writer is known to use, in this version and earlier ones, and the small
functions that read the irregular ones. The words of filters are no dialect: all writers share them (`filters`). A new
scheduler is a new module here and a name in the list; `plain` stays last.
"""

from __future__ import annotations

from typing import Final

from aggregation.messages.dialects import (
    api_server,
    autoscalers,
    coscheduling,
    hami,
    kai,
    karpenter,
    koordinator,
    kube_scheduler,
    kubelet,
    kueue,
    plain,
    volcano,
    yunikorn,
)

DIALECTS: Final = (
    kube_scheduler, koordinator, volcano, kueue, coscheduling, kai, yunikorn, hami, karpenter, autoscalers, api_server,
    kubelet, plain,
)  # fmt: skip
"""Narrow frames first, loose words last. A text belongs to the first dialect that reads it."""
