"""The plugins, one file each, all in the same shape: what they order, vote, limit, filter or score, and why.

`ALL` lists them once, by the names that policies use; `known` adds those of third parties. A plugin knows the session
and the model, never another plugin. Accounts that several keep (what a queue holds, what waits in it) are in
`session.accounts`.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline import extensions
from pipeline.errors import UserError
from scheduler_core.plugins.binpack import Binpack
from scheduler_core.plugins.capacity import Capacity
from scheduler_core.plugins.conformance import Conformance
from scheduler_core.plugins.drf import Drf
from scheduler_core.plugins.gang import Gang
from scheduler_core.plugins.network_topology_aware import NetworkTopologyAware
from scheduler_core.plugins.nodeorder import NodeOrder
from scheduler_core.plugins.overcommit import Overcommit
from scheduler_core.plugins.predicates import Predicates
from scheduler_core.plugins.priority import Priority
from scheduler_core.plugins.proportion import Proportion
from scheduler_core.plugins.sla import Sla
from scheduler_core.session.plugin import Plugin

GROUP = "kube_collector.scheduler_plugins"
"""Entry points of third parties: name in policies → module:PluginClass."""

ALL: Mapping[str, type[Plugin]] = {
    plugin.name: plugin
    for plugin in (
        Sla, Gang, Priority, Conformance, Proportion, Capacity, Drf, Overcommit, Predicates, NodeOrder, Binpack,
        NetworkTopologyAware,
    )
}  # fmt: skip


def known() -> Mapping[str, type[Plugin]]:
    """Our plugins and those that are installed. Raises UserError for one that cannot be used."""
    found = dict(ALL)
    for extension in extensions.found(GROUP):
        if extension.name in found:
            raise UserError(
                f"the scheduler plugin {extension.name!r} of {extension.distribution} has the name of another",
                fix="Give it another name in its entry point.",
            )
        found[extension.name] = _load(extension)
    return found


def _load(extension: extensions.Extension) -> type[Plugin]:
    fix = f"Mend or remove the distribution {extension.distribution}."
    try:
        plugin = extension.load()
    except Exception as error:  # a module of others may fail in any way when it is imported
        what = str(error) if isinstance(error, ImportError | AttributeError) else f"{type(error).__name__}: {error}"
        raise UserError(f"the scheduler plugin {extension.name!r} cannot be loaded: {what}", fix=fix) from error
    if not (isinstance(plugin, type) and issubclass(plugin, Plugin)):
        raise UserError(f"{extension.target} is no scheduler_core.session.plugin.Plugin", fix=fix)
    return plugin
