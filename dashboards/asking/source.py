"""What the commands ask, and whom.

In this order: the address of `--url`; the local Doris of a data folder that the command line names; the address of
`KUBE_COLLECTOR_URL`, then of `dashboards.url`; the page of this machine, if it is on; the warehouse itself. Whoever names a
folder means what lies in it: the page on the usual port may be another's. The settings are loaded only when something was
set, since reading them takes longer than asking.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dashboards import address
from dashboards.filters import Filters, Wanted
from pipeline.cli import options

if TYPE_CHECKING:
    from pipeline.config.load import Loaded

VARIABLE = "KUBE_COLLECTOR_URL"
_SETTING_PREFIX = "KUBE_COLLECTOR__"

Answer = dict[str, Any]


class Source(Protocol):
    """Whom the commands ask. Each answer is the API's object as plain data; errors are UserErrors."""

    def jobs(self, filters: Filters, sort: str, limit: int, cursor: str | None) -> Answer: ...
    def job(self, wanted: Wanted) -> Answer: ...
    def why(self, wanted: Wanted, at_ms: int | None) -> Answer: ...
    def violations(self, filters: Filters, limit: int, cursor: str | None) -> Answer: ...
    def queues(self, filters: Filters) -> Answer: ...
    def reasons(self, filters: Filters, from_ms: int | None, to_ms: int | None, unit: str) -> Answer: ...
    def close(self) -> None: ...


class Whom(NamedTuple):
    """What the options of a command say about whom to ask, and in which language."""

    url: str | None
    config: Iterable[Path] | None
    sets: Iterable[str] | None
    lang: str


def find(whom: Whom) -> Source:
    """The source that answers. Raises Unreachable or ConfigInvalid."""
    from dashboards.asking.api import Api

    named = _loaded(whom) if not whom.url and _names_a_folder(whom) else None
    if named is not None and _is_of_the_folder(named):
        return _direct(named, whom)
    given = whom.url or os.environ.get(VARIABLE)
    if given:
        return Api(given, whom.lang)
    loaded = named or (_loaded(whom) if _is_set(whom) else None)
    url = address.url(address.ADDRESS, address.PORT)
    if loaded is not None:
        section: Any = loaded.sections["dashboards"]
        if section.url:
            return Api(section.url, whom.lang)
        url = address.url(section.address, section.port, section.root_path)
    api = Api(url, whom.lang)
    if api.is_ours():
        return api
    api.close()
    return _direct(loaded or _loaded(whom), whom)


def _direct(loaded: Loaded, whom: Whom) -> Source:
    from dashboards.asking.direct import Direct

    return Direct(loaded, whom.lang)


def _names_a_folder(whom: Whom) -> bool:
    """Whether the command line does."""
    return any(each.partition("=")[0].strip() == "data_dir" for each in whom.sets or ())


def _is_of_the_folder(loaded: Loaded) -> bool:
    """Whether the data folder says which warehouse is meant: none is configured, and the command line names no page."""
    doris: Any = loaded.sections["doris"]
    pages = [loaded.origin(("dashboards", key)).kind == "flag" for key in ("url", "address", "port")]
    return not doris.frontend and not any(pages)


def _is_set(whom: Whom) -> bool:
    """Whether anything may differ from the defaults."""
    return bool(options.files(whom.config) or whom.sets or any(name.startswith(_SETTING_PREFIX) for name in os.environ))


def _loaded(whom: Whom) -> Loaded:
    return options.settings(whom.config, whom.sets)
