"""Errors as a person meets them: what is wrong, what to do, an exit code; a stack only with `--debug`."""

from __future__ import annotations

import sys

from pipeline.cli import terminal
from pipeline.errors import ConfigInvalid, Terminal, Transient, UserError

INTERRUPTED = 130
_RETRYABLE = 6


def show(error: BaseException, *, debug: bool = False) -> int:
    """Prints the error on stderr and answers its exit code."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if debug:
        import traceback

        traceback.print_exception(error)
    what, fix, code = _halves(error)
    label = terminal.paint("Error:", "red", sys.stderr)
    sys.stderr.write(f"{label} {what}\n" + (f"  {fix}\n" if fix else ""))
    return code


def _halves(error: BaseException) -> tuple[str, str | None, int]:
    if isinstance(error, ConfigInvalid):
        count = len(error.problems)
        lines = "".join(f"\n  {problem}" for problem in error.problems)
        what = f"{error.of} cannot be used ({count} problem{'s' if count != 1 else ''}):{lines}"
        return what, error.fix, error.exit_code
    if isinstance(error, UserError):
        return (f"{error.where}: {error.what}" if error.where else error.what), error.fix, error.exit_code
    if isinstance(error, Transient):
        return str(error), "This may pass: run it again, or see `kube-collector doctor`.", _RETRYABLE
    if isinstance(error, Terminal):
        return str(error), None, 1
    if isinstance(error, ImportError):
        return (
            _not_installed(error),
            "Install the extra that this command needs, such as `pip install 'kube-collector[all]'`.",
            1,
        )
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"unexpected {what}", "This is a fault of kube-collector. Run it again with --debug and report the stack.", 1


def _not_installed(error: ImportError) -> str:
    return f"the package {error.name!r} is missing or broken ({error})" if error.name else str(error)
