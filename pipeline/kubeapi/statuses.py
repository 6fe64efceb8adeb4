"""What to do about an error answer of the API server. Pure.

The server says what went wrong in a `Status` object, as the body of an HTTP error or as the object of an ERROR frame
inside a stream that began with HTTP 200. Decided by code, else by reason, else by the text (old servers put "401: …"
there and nothing else), else: back off.

"Your version is too old" comes in four forms, all code 410: ERROR frame with reason `Expired` (watch), the same with the
older reason `Gone`, HTTP 410 for a `continue` token, HTTP 410 for an exact version. The opposite, a version that the
server has not reached ("Too large resource version", 504), is told apart by `ahead`: a lagging server cures it in
seconds, a restored one never does.
"""

from __future__ import annotations

import enum
import re

import msgspec


class Action(enum.StrEnum):
    """What a reader does next."""

    RELIST = "relist"
    RECONNECT_BACKOFF = "reconnect_backoff"
    REFRESH_TOKEN = "refresh_token"
    DISABLE_KEEP_OTHERS = "disable_resource_keep_others"
    NOT_SERVED = "not_served"


class Problem(msgspec.Struct, frozen=True):
    """An error answer, reduced to what decides. `code` is 0 and `reason` empty when the server did not say."""

    code: int = 0
    reason: str = ""
    message: str = ""
    retry_after_s: float | None = None
    ahead: bool = False
    """The version asked for is newer than anything this server has."""

    def __str__(self) -> str:
        head = " ".join(part for part in (str(self.code or ""), self.reason) if part)
        return f"{head}: {self.message}" if head and self.message else head or self.message or "no reason given"


class _Cause(msgspec.Struct):
    reason: str | None = None


class _Details(msgspec.Struct, rename="camel"):
    causes: list[_Cause] | None = None
    retry_after_seconds: float | None = None


class _Status(msgspec.Struct):
    code: int | None = None
    reason: str | None = None
    message: str | None = None
    details: msgspec.Raw = msgspec.Raw(b"null")


_TOO_LARGE = "too large resource version"
_MAX_MESSAGE_CHARS = 1000
_decoder = msgspec.json.Decoder(_Status, strict=False)

_BY_CODE = {
    401: Action.REFRESH_TOKEN,
    403: Action.DISABLE_KEEP_OTHERS,
    404: Action.NOT_SERVED,
    410: Action.RELIST,
}
_BY_REASON = {
    "Unauthorized": Action.REFRESH_TOKEN,
    "Forbidden": Action.DISABLE_KEEP_OTHERS,
    "NotFound": Action.NOT_SERVED,
    "Expired": Action.RELIST,
    "Gone": Action.RELIST,
}
_UNREADABLE_VERSION = re.compile(r"invalid resource ?version|resource ?version: invalid", re.IGNORECASE)
_LEADING_CODE = re.compile(r"\s*\(?([1-5]\d\d)\b")
_BY_TEXT = (
    ("too old resource version", Action.RELIST),
    ("resource version for the provided", Action.RELIST),
    ("unauthorized", Action.REFRESH_TOKEN),
    ("forbidden", Action.DISABLE_KEEP_OTHERS),
)


def read_status(body: bytes, http_code: int = 0, retry_after_s: float | None = None) -> Problem:
    """The problem that a `Status` states; `http_code` (0 inside a stream) and the header's wait come first.

    A body that is no `Status` (a proxy's page, nothing) is kept as text, cut at 1,000 characters.
    """
    try:
        status = _decoder.decode(body)
    except msgspec.MsgspecError:
        text = body[: 4 * _MAX_MESSAGE_CHARS].decode("utf-8", "replace").strip()
        return Problem(code=http_code, message=text[:_MAX_MESSAGE_CHARS], retry_after_s=retry_after_s)
    details = _details_of(status)
    message = status.message or ""
    causes = {cause.reason for cause in details.causes or []}
    return Problem(
        code=http_code or status.code or 0,
        reason=status.reason or "",
        message=message[:_MAX_MESSAGE_CHARS],
        retry_after_s=retry_after_s if retry_after_s is not None else details.retry_after_seconds,
        ahead="ResourceVersionTooLarge" in causes or _TOO_LARGE in message.lower(),
    )


def _details_of(status: _Status) -> _Details:
    """The details; empty if there are none or if they are not as documented: code and reason are enough to decide."""
    try:
        return msgspec.json.decode(status.details, type=_Details | None, strict=False) or _Details()
    except msgspec.MsgspecError:
        return _Details()


def action_for(problem: Problem) -> Action:
    """What to do about `problem`: by code, else by reason, else by text, else back off."""
    if problem.ahead:
        return Action.RELIST
    code = problem.code or _code_in(problem.message)
    if code in _BY_CODE:
        return _BY_CODE[code]
    if _UNREADABLE_VERSION.search(problem.message):  # a list says so with 400, a watch with 500
        return Action.RELIST
    if code:
        return Action.RECONNECT_BACKOFF
    if problem.reason in _BY_REASON:
        return _BY_REASON[problem.reason]
    text = problem.message.lower()
    return next((action for words, action in _BY_TEXT if words in text), Action.RECONNECT_BACKOFF)


def _code_in(message: str) -> int:
    found = _LEADING_CODE.match(message)
    return int(found.group(1)) if found else 0
