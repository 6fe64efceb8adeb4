"""Claims for volumes: whether a pod can have its volumes on any node, as far as the claims themselves say it.

Only claims are recorded, neither volumes nor storage classes nor what drivers can attach. So one that waits for its first
consumer speaks against nothing, and which nodes reach a volume is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler_core.cache.reading import ClaimSeen


def refusal(known: Mapping[tuple[str, str], ClaimSeen] | None, namespace: str, names: Iterable[str]) -> str:
    """Why no node is looked at for a pod that mounts these claims, in the words of kube-scheduler's VolumeBinding, which
    Volcano asks too; empty if nothing speaks against it. None is `known` where they are not watched."""
    if known is None:
        return ""
    for name in names:
        claim = known.get((namespace, name))
        if claim is None:
            return f'persistentvolumeclaim "{name}" not found'
        if claim.phase == "Lost":
            return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.volume}"'
        if not claim.volume and not claim.storage_class:
            return "pod has unbound immediate PersistentVolumeClaims"
    return ""
