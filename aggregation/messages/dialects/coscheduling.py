"""The plug-ins of scheduler-plugins and of those who copied them: gangs of coscheduling, elastic quotas."""

from __future__ import annotations

from typing import Final

from aggregation.messages.rules import rule, says

RULES: Final = (
    rule(r"PodGroup \S+ gets rejected due to Pod \S+ is unschedulable|optimistic rejection in PostFilter|"
         r"rejection in Unreserve", says("gang", pointer=True)),
    rule(r"cannot find enough sibling pods(?:.*?current pods number: (?P<current>\d+))?(?:.*?(?:minMember of group|"
         r"minReservedPods): (?P<min>\d+))?",
         says("gang", "pods={current} min={min}", reason_detail="members_missing")),
    rule(r"pod ?group \S+ not found|can't find pod ?group",
         says("gang", "group_missing", reason_detail="group_missing")),
    rule(r"rejected in Pre[Ff]ilter because (?:total )?(?P<quota>.*)", says("quota", "{quota}")),
)  # fmt: skip
