"""What can be set about the collector."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pydantic

from pipeline.config import fields
from pipeline.records import keys


class Spool(fields.Section):
    """The log of records on disk, and its limits."""

    segment_bytes: fields.Bytes = 64 << 20
    """Size at which a segment ends."""
    keep_log: fields.Duration = 7 * 86_400.0
    """How long a segment is kept after every reader has passed it: for questions about the past and for rebuilds."""
    max_bytes: fields.Bytes = 20 << 30
    """The log never grows above this: reading from the cluster stops until readers have passed a segment."""
    min_free_bytes: fields.Bytes = 512 << 20
    """Free space that is left on the disk; below it reading from the cluster stops."""


class ExtraKind(fields.Section):
    """A further kind to watch; only its metadata is kept, and owners are followed through it."""

    group: str
    """API group, such as `jobset.x-k8s.io`."""
    version: str
    """Version, such as `v1alpha2`."""
    plural: str
    """Plural name, such as `jobsets`."""
    kind: str
    """Kind, such as `JobSet`."""
    namespaced: bool = True
    """Whether its objects lie in namespaces."""


class Settings(fields.Section):
    """Stage 1: a cluster's watches, made into records on disk."""

    kubeconfig: Path | None = None
    """File with the way to the cluster; without it the service account of the pod, then `$KUBECONFIG`, then `~/.kube/config`."""
    context: str | None = None
    """Context of the kubeconfig; its current one without it."""
    replay: Path | None = None
    """Folder of a recording that is played in the cluster's place; `up --replay` sets it."""
    speed: str = "1x"
    """Pace of a replay: `1x`, `30x`, `max`, or phases with their ends such as `30x@70s,1x`."""
    page_limit: Annotated[int, pydantic.Field(ge=1, le=5000)] = 500
    """Objects a page of a list."""
    streamed_list: bool = False
    """List by watching from nothing, which spares the server memory; falls back to pages where it is not served."""
    watch_timeout: fields.Duration = 290.0
    """How long the server is asked to keep a watch open."""
    silent_after: fields.Duration = 90.0
    """A watch that brings nothing for this long, not even a bookmark, is taken for dead and opened again."""
    annotations: tuple[str, ...] = ()
    """Further annotation keys whose values are kept. Values of all others are dropped, with their key kept."""
    tenant_label: str = keys.TENANT
    """Label of a namespace that names its tenant."""
    disabled_kinds: tuple[str, ...] = ()
    """Kinds that are not watched, such as `resourceclaims.resource.k8s.io`. Objects of one that was watched before count as they
    were last seen; when it is watched again, what changed meanwhile is told."""
    extra_kinds: tuple[ExtraKind, ...] = ()
    """Further kinds to watch."""
    spool: Spool = pydantic.Field(default_factory=Spool)
