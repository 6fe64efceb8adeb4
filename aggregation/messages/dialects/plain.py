"""No known writer: a frame of nodes anywhere in the text, or words that name a reason wherever they stand.

The last resort. Only words that hardly mean anything else are taken here; all other text stays `other`, and is kept.
"""

from __future__ import annotations

import re
from typing import Final

from aggregation.messages import filters, node_list
from aggregation.messages.message import Message
from aggregation.messages.rules import Inner, rule

_TELLING: Final = (
    r"insufficient \w|\b(?:not|no) enough \w|too many pods|pod number exceeded|\btaints?\b|tolerat|(?:pod (?:anti-)?|node )?affinity|"
    r"node ?selector|topology spread|persistent ?volume|free ports|host ?ports?\b|(?:were|was|is) unschedulable|"
    r"resource ?claim|device class|storage ?class|sibling pods|minMember|over ?quota|exceeds? .*quota"
)


def _words(match: re.Match[str], inner: Inner) -> Message | None:
    named = filters.meaning(match["telling"])
    return Message(reasons=named) if any(one.category != "other" for one in named) else None


RULES: Final = (
    rule(node_list.FRAME, node_list.reading),
    rule(rf"(?P<telling>(?:\b\w{{1,16}}\(s\) )?(?:had |didn't |did not )?(?:{_TELLING}).*)", _words),
)
