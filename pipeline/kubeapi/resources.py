"""What can be watched: a resource of the API, and the part of it that somebody wants. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec


class Resource(msgspec.Struct, frozen=True):
    """One kind as one version of the API serves it. `group` is empty for the core group."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """As objects spell it: `v1`, `batch/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def name(self) -> str:
        """As RBAC and people spell it: `pods`, `jobs.batch`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str | None = None) -> str:
        """Path of the collection; of all namespaces when `namespace` is None or the kind has none."""
        root = group_path(self.group, self.version)
        if namespace is None or not self.namespaced:
            return f"{root}/{self.plural}"
        return f"{root}/namespaces/{namespace}/{self.plural}"


class Collection(msgspec.Struct, frozen=True):
    """The objects of one resource that are listed and watched together. Selectors use the API's own syntax."""

    resource: Resource
    namespace: str | None = None
    label_selector: str = ""
    field_selector: str = ""

    @property
    def path(self) -> str:
        return self.resource.path(self.namespace)

    @property
    def query(self) -> dict[str, str]:
        """The selectors as query parameters; they go with every list and every watch."""
        wanted = {"labelSelector": self.label_selector, "fieldSelector": self.field_selector}
        return {key: value for key, value in wanted.items() if value}


def group_path(group: str, version: str) -> str:
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


class GroupVersion(msgspec.Struct, frozen=True):
    group: str
    version: str

    def __str__(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def path(self) -> str:
        return group_path(self.group, self.version)


class _Version(msgspec.Struct):
    version: str


class _Group(msgspec.Struct, rename="camel"):
    name: str
    versions: list[_Version] = []
    preferred_version: _Version | None = None


class _GroupList(msgspec.Struct):
    groups: list[_Group] | None = None


class _CoreVersions(msgspec.Struct):
    versions: list[str] | None = None


class _ApiResource(msgspec.Struct):
    name: str
    kind: str
    namespaced: bool = False
    verbs: list[str] = []


class _ApiResourceList(msgspec.Struct):
    resources: list[_ApiResource] | None = None


def core_versions(body: bytes) -> list[GroupVersion]:
    """Versions of the core group from the answer of `/api`. Raises msgspec.MsgspecError."""
    found = msgspec.json.decode(body, type=_CoreVersions)
    return [GroupVersion("", version) for version in found.versions or []]


def group_versions(body: bytes) -> list[GroupVersion]:
    """Versions of all named groups from the answer of `/apis`, each group's preferred one first.

    Raises msgspec.MsgspecError.
    """
    found: list[GroupVersion] = []
    for group in msgspec.json.decode(body, type=_GroupList).groups or []:
        preferred = group.preferred_version.version if group.preferred_version else ""
        versions = sorted((each.version for each in group.versions), key=lambda version: version != preferred)
        found.extend(GroupVersion(group.name, version) for version in versions)
    return found


def watchable(body: bytes, served_by: GroupVersion) -> list[Resource]:
    """The resources of one group version that can be listed and watched; subresources are left out.

    Raises msgspec.MsgspecError.
    """
    listed = msgspec.json.decode(body, type=_ApiResourceList).resources or []
    return [
        Resource(served_by.group, served_by.version, each.name, each.kind, each.namespaced)
        for each in listed
        if "/" not in each.name and {"list", "watch"} <= set(each.verbs)
    ]


class Discovery(msgspec.Struct, frozen=True):
    """What the server serves, in its own order of preference, and the group versions that did not answer.

    A dead aggregated API is in `failed` (group version → error); everything else is there as usual.
    """

    resources: Sequence[Resource]
    failed: Mapping[str, str] = {}

    def find(self, group: str, plural: str, versions: Iterable[str] = ()) -> Resource | None:
        """The resource in the first of `versions` that is served; without `versions`, as the server prefers it."""
        served = [each for each in self.resources if each.group == group and each.plural == plural]
        wanted = list(versions)
        if not wanted:
            return served[0] if served else None
        by_version = {each.version: each for each in served}
        return next((by_version[version] for version in wanted if version in by_version), None)

    def answered(self, group: str) -> bool:
        """False if some version of the group did not answer, so that absence proves nothing."""
        return not any(name.rpartition("/")[0] == group for name in self.failed)
