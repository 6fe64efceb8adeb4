"""What can go wrong with Doris, sorted by what a caller does about it."""

from __future__ import annotations

from pipeline.errors import KubeCollectorError, Terminal, Transient


class Busy(Transient):
    """Doris is there but does not want it now: too many versions, transactions or too little memory."""


class Offline(Transient):
    """No answer, or one that leaves open whether the load counts; the same label decides it."""


class Refused(Transient):
    """A person must mend something: password, privilege, missing table, a backend that is not allowed.

    Transient, since the rows are good and wait: what is mended while the loader retries is picked up.
    """


class RowsLost(Transient):
    """Doris reports success for fewer rows than were sent; the rows must go again under another label."""


class BadRows(Terminal):
    """At least one row of the load does not fit its table; nothing was loaded. `details`: Doris' own first lines."""

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.details = details


class QueryFailed(KubeCollectorError):
    """Doris refused a statement; `code` is its MySQL error number, the message Doris' own."""

    def __init__(self, message: str, *, code: int, statement: str) -> None:
        super().__init__(message)
        self.code = code
        self.statement = statement
