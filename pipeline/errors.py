"""The exception tree. Loops look only at `Transient` and `Terminal`; a person only at `UserError`.

KubeCollectorError
├── UserError            what is wrong, where, what to do about it; the process ends with `exit_code`
│   ├── BadUsage         2  the command line
│   ├── ConfigInvalid    3  the settings; carries every problem found, each with its place
│   ├── NotFound         4  the thing asked for does not exist
│   ├── CheckFailed      5  a check that was asked for did not pass
│   └── Unreachable      6  a dependency does not answer
├── Transient            the same call may succeed later; `retry_after_s` if the other side named a time
└── Terminal             the same call will never succeed; the item goes to the dead letter and work goes on
"""

from __future__ import annotations

_EVERY_KEY = "`kube-collector config docs` lists every key."


class KubeCollectorError(Exception):
    """Root of everything this project raises on purpose."""


class UserError(KubeCollectorError):
    """A mistake that a person can mend: `what` is wrong, `where` (a place or None), `fix` (what to do, or None)."""

    exit_code = 1

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}\n  {self.fix}" if self.fix else head


class BadUsage(UserError):
    """The command line cannot be understood."""

    exit_code = 2


class ConfigInvalid(UserError):
    """A file of settings cannot be used. `problems` are whole lines, `file:line:col: path: what (did you mean …?)`; `of`
    says what was read where it is not the settings, with a `fix` for that."""

    exit_code = 3

    def __init__(self, problems: list[str], *, of: str = "the settings", fix: str = _EVERY_KEY) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
        self.of = of
        self.fix = fix

    def __str__(self) -> str:
        return self.what


class NotFound(UserError):
    """The thing asked for does not exist."""

    exit_code = 4


class CheckFailed(UserError):
    """A check that was asked for did not pass."""

    exit_code = 5


class Unreachable(UserError):
    """A dependency does not answer; retrying later may help."""

    exit_code = 6


class Transient(KubeCollectorError):
    """The same call may succeed later. `retry_after_s`: seconds the other side asked to wait, or None."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Terminal(KubeCollectorError):
    """The same call will never succeed."""
