"""Takes secrets out of text that will be seen: log lines, error messages, answers of the admin server.

The last wall, not the first: settings mask their secrets themselves. But an error text of a library quotes addresses, and an
address may hold a password, a token or the whole authority to post (webhooks).
"""

from __future__ import annotations

import re

MASK = "***"

_SECRET_KEY = re.compile(
    r"pass(word|wd)?$|secret|token$|^authorization$|api_?key|credential|private_?key|webhook_?url|signature",
    re.IGNORECASE,
)

_PATTERNS = (
    (re.compile(r"\b(Bearer|Basic) +[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE), rf"\1 {MASK}"),
    (re.compile(r"([a-z][a-z0-9+.-]*://)[^/\s:@]*:[^/\s@]+@", re.IGNORECASE), rf"\1{MASK}@"),
    (
        re.compile(
            r"([?&](?:access_token|token|key|api_?key|sign|signature|secret|password)=)[^&\s\"'<>]+", re.IGNORECASE
        ),
        rf"\1{MASK}",
    ),
    (
        # Addresses that are themselves the right to post: Slack, Feishu and Lark, Teams, Discord.
        re.compile(
            r"(https?://[^\s\"'<>]*?(?:hooks\.slack\.com/services|open-apis/bot/v2/hook|webhook\.office\.com|discord\.com/api/webhooks)/?)"
            r"[^\s\"'<>]+",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"), MASK),  # a JSON web token
)


def text(value: str) -> str:
    """The text without what looks like a secret."""
    for pattern, instead in _PATTERNS:
        value = pattern.sub(instead, value)
    return value


def field(key: str, value: object) -> object:
    """The value of a named field: masked whole if the name says secret, else with its texts cleaned."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if value != "" and _SECRET_KEY.search(key):
        return MASK
    if isinstance(value, dict):
        return {str(inner): field(str(inner), held) for inner, held in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [field(key, held) for held in value]
    return text(str(value))  # also errors, paths and whatever else a line was given
