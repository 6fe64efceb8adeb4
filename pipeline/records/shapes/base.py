"""What all shapes share: metadata, conditions, owner references, and the dropping of what policy forbids."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import msgspec
from msgspec import UNSET

from pipeline.records import times
from pipeline.records.quantity import Quantity


class Part(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True, gc=False):
    """A piece of a Kubernetes object: camelCase on the wire, everything optional."""


class OwnerReference(Part):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None

    @property
    def group(self) -> str:
        """The API group: `batch` of `batch/v1`, empty for core."""
        return self.api_version.rpartition("/")[0]


class Meta(Part):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None

    @property
    def created_ms(self) -> int | None:
        """Creation, a whole second."""
        return times.parse_ms(self.creation_timestamp)

    @property
    def deleted_ms(self) -> int | None:
        """When deletion was asked for: deletionTimestamp less the grace period (rule P4); None if it was not."""
        at = times.parse_ms(self.deletion_timestamp)
        return None if at is None else at - 1000 * (self.deletion_grace_period_seconds or 0)

    @property
    def controller(self) -> OwnerReference | None:
        """The owner marked as controller, else the only owner."""
        owners = self.owner_references or ()
        for owner in owners:
            if owner.controller:
                return owner
        return owners[0] if len(owners) == 1 else None


class Condition(Part):
    type: str = ""
    status: str = ""
    reason: str | None = None
    message: str | None = None
    last_transition_time: str | None = None


class Shape(Part):
    """A whole object. List items carry no kind and apiVersion; the reader of the list adds them."""

    api_version: str = ""
    kind: str = ""
    metadata: Meta = msgspec.field(default_factory=Meta)

    def pods(self) -> Iterable[Inside]:
        """Every pod, or template of pods, inside it."""
        return ()


class EnvVar(Part):
    """Of an environment variable the name and the reference; a literal value is never even decoded."""

    name: str = ""
    value_from: msgspec.Raw | msgspec.UnsetType = UNSET


class ResourceNeeds(Part):
    requests: dict[str, Quantity] | None = None
    limits: dict[str, Quantity] | None = None


class ContainerPort(Part):
    host_port: int | None = None
    host_ip: str | None = msgspec.field(default=None, name="hostIP")
    protocol: str | None = None
    container_port: int | None = None


class Container(Part):
    name: str = ""
    resources: ResourceNeeds | None = None
    ports: list[ContainerPort] | None = None
    env: list[EnvVar] | None = None
    restart_policy: str | None = None


Inside = tuple[str, dict[str, str] | None, list[Container] | None, list[Container] | None]
"""A pod within an object, as far as it may hold what policy forbids: its path, which is empty or ends with a dot, its
annotations, containers and init containers."""


def redact(shape: Shape, allowed: frozenset[str]) -> tuple[str, ...]:
    """The paths of what policy keeps out: values of variables, which were not decoded, and annotations that are not
    `allowed`, which are removed here."""
    dropped: list[str] = []
    for path, notes, containers, init_containers in shape.pods():
        if containers:
            _note_values(path + "spec.containers", containers, dropped)
        if init_containers:
            _note_values(path + "spec.initContainers", init_containers, dropped)
        if notes:
            _drop_annotations(path + "metadata.annotations.", notes, allowed, dropped)
    if shape.metadata.annotations:
        _drop_annotations("metadata.annotations.", shape.metadata.annotations, allowed, dropped)
    return tuple(dropped)


def _note_values(path: str, containers: list[Container], dropped: list[str]) -> None:
    """A variable that takes its value from nowhere else has one of its own."""
    for n, container in enumerate(containers):
        if container.env:
            sources = [variable.value_from for variable in container.env]
            paths = _value_paths(path, n, len(sources))
            if sources.count(UNSET) < len(sources):
                paths = tuple(each for each, source in zip(paths, sources, strict=True) if source is UNSET)
            dropped += paths


@lru_cache(maxsize=4096)
def _value_paths(path: str, container: int, variables: int) -> tuple[str, ...]:
    """Few templates make many pods, so few paths are named again and again."""
    return tuple(f"{path}[{container}].env[{variable}].value" for variable in range(variables))


def _drop_annotations(path: str, held: dict[str, str], allowed: frozenset[str], dropped: list[str]) -> None:
    for key in [key for key in held if key not in allowed]:
        del held[key]
        dropped.append(path + key)
