"""The API server's refusals, as controllers pass them on: ResourceQuota, and all else that admission can object to.

The quota's text lists only the resources that are over it. A request that alone is above the limit never fits.
"""

from __future__ import annotations

import re
from typing import Final

from aggregation.messages.message import Message, said
from aggregation.messages.rules import Inner, exceeds, resource_name, rule, says

_LIST = r"(?P<{name}>[^\s:]+=[^:]*?)"
_QUOTA = (
    r"exceeded quota: (?P<quota>[^\s,]+)(?:, requested: " + _LIST.format(name="requested") + r")?(?:, used: "
    + _LIST.format(name="used") + r")?(?:, limited: " + _LIST.format(name="limited") + r")?(?=[.;\"'\s]*$|, \w+: |\s)"
)  # fmt: skip
_PAIR = re.compile(r"([\w./-]+)=([\w.+-]+)")


def _quota(match: re.Match[str], inner: Inner) -> Message:
    detail = f"quota={match['quota'].strip(',;.')}"
    requested, used, limited = (dict(_PAIR.findall(match[part] or "")) for part in ("requested", "used", "limited"))
    over = {name for name, amount in requested.items() if exceeds(amount, limited.get(name))}
    names = [*(requested or used or limited)] or [None]
    return Message(
        reasons=tuple(
            said("quota", f"{detail} never_fits" if name in over else detail, resource_name(name)) for name in names
        ),
        never_fits=bool(over),
    )


RULES: Final = (
    rule(_QUOTA, _quota),
    rule(r"insufficient quota to (?:match|consume)|failed quota:|quota evaluation timed out|status unknown for quota",
         says("quota")),
    rule(r"\"? is invalid: involvedObject", says("admission", "event_validation")),
    rule(r"violates PodSecurity", says("admission", "pod_security")),
    rule(r"(?:maximum|minimum) (?P<what>[\w./-]+) usage per", says("admission", "limit_range")),
    rule(r"admission webhook \"(?P<webhook>[^\"]*)\" denied", says("admission", "webhook={webhook}")),
    rule(r"no PriorityClass with name (?P<name>\S+) was found", says("admission", "priority_class={name}")),
    rule(r"cannot \w+ resource \"", says("admission", "forbidden")),
    rule(r"is forbidden|is invalid:|denied the request|unable to validate against any", says("admission")),
    rule(r"^Job suspended", says("admission", "suspended", reason_detail="suspended")),
)  # fmt: skip
