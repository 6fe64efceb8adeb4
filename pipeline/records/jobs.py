"""Who waits: the identity of a job, and the bucket in which all that concerns it stays in order."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

import msgspec

BUCKETS = 256
"""Never changes for the life of a log: partition = bucket % partitions."""


class JobRef(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The topmost object of a job kind that a pod belongs to, or the pod itself.

    `uid` is `name:NAMESPACE/NAME` for a group that pods name but that does not exist yet.
    """

    kind: str
    namespace: str
    name: str
    uid: str
    group: str = ""

    def __str__(self) -> str:
        return f"{self.kind}/{self.namespace}/{self.name}"


def placeholder_uid(namespace: str, name: str) -> str:
    """The uid of a job whose object has not been seen to exist."""
    return f"name:{namespace}/{name}"


def is_placeholder(uid: str) -> bool:
    """Whether the uid stands for an object that has not been seen."""
    return uid.startswith("name:")


@lru_cache(maxsize=16384)
def bucket_of(cluster: str, namespace: str, name: str) -> int:
    """0 to 255, from the first 8 bytes of blake2b over cluster, namespace and name, separated by NUL."""
    digest = blake2b(f"{cluster}\0{namespace}\0{name}".encode(), digest_size=64).digest()
    return int.from_bytes(digest[:8], "big") % BUCKETS
