"""Pods of other schedulers than Volcano, explained by kube-scheduler's own filters in its own order.

`explain` gives for each pod that waits a decision: which filter keeps each node shut, how many nodes each, the reason
that follows from it and what would help. `filters` judges nodes as kube-scheduler does (`columns` and `judged` are how
that stays cheap), `cluster` holds what it judges them on, `following` keeps all that from session to session. `gangs`
looks at native groups, `reasons` picks one, `preemption` and `texts` say it in kube-scheduler's words.

Nothing is decided here and nobody is placed: these schedulers run in the cluster, this room only knows their rules. It
looks at `cache` for what is known of pods, at `model`, `session` and the plugin `predicates` (the filters that both
schedulers share), and reads no log, disk or clock.
"""

from scheduler_core.foreign.explaining import explain, message
from scheduler_core.foreign.following import Explainer, decide
from scheduler_core.foreign.world import World, of_mirror

__all__ = ["Explainer", "World", "decide", "explain", "message", "of_mirror"]
