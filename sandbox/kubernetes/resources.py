"""Which kinds the server knows: the built-in ones from data/resources.json, and those that CRDs add while it runs.

Nothing here looks at objects; it answers "what is /apis/apps/v1/deployments".
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox.kubernetes.shapes import Shape, builtin_shape

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Resource:
    """One served resource of one group version.

    Attributes:
        key: where its objects are stored; two versions (or groups, for events) can share a place.
        rows: the discovery rows of the resource and of its subresources, as sent.
        shape: what its objects look like.
        custom: whether a CRD made it.
        columns: printer columns of a CRD.
        selectable: extra fields for field selectors that the CRD names.
    """

    group: str
    version: str
    plural: str
    kind: str
    list_kind: str
    namespaced: bool
    key: tuple[str, str]
    rows: tuple[dict[str, Any], ...]
    shape: Shape
    custom: bool = False
    columns: tuple[dict[str, Any], ...] = ()
    selectable: tuple[str, ...] = ()
    subresources: frozenset[str] = field(default_factory=frozenset)

    @property
    def group_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def row(self, subresource: str = "") -> dict[str, Any] | None:
        """The discovery row of the resource or of one of its subresources."""
        name = f"{self.plural}/{subresource}" if subresource else self.plural
        return next((row for row in self.rows if row["name"] == name), None)


ALIASES = {("events.k8s.io", "events"): ("", "events")}


class Registry:
    """All served resources, by group version and plural."""

    def __init__(self) -> None:
        self._served: dict[str, dict[str, Resource]] = {}
        raw = json.loads((DATA / "resources.json").read_text(encoding="utf-8"))
        for group_version, rows in raw.items():
            self._served[group_version] = {r.plural: r for r in _built_in(group_version, rows)}
        self.builtin_groups = frozenset(_split(group_version)[0] for group_version in self._served)

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        return self._served.get(f"{group}/{version}" if group else version, {}).get(plural)

    def by_kind(self, api_version: str, kind: str) -> Resource | None:
        rows = self._served.get(api_version, {}).values()
        return next((r for r in rows if r.kind == kind), None)

    def by_key(self, key: tuple[str, str]) -> Resource | None:
        """The first served resource that stores its objects under `key`."""
        return next((r for r in self.all() if r.key == key), None)

    def group_versions(self) -> list[str]:
        """Served group versions, core first, in the order of registration."""
        return [group_version for group_version, rows in self._served.items() if rows or group_version == "v1"]

    def of(self, group_version: str) -> dict[str, Resource] | None:
        return self._served.get(group_version)

    def all(self) -> Iterator[Resource]:
        for rows in list(self._served.values()):
            yield from rows.values()

    def add(self, resource: Resource) -> None:
        self._served.setdefault(resource.group_version, {})[resource.plural] = resource

    def replace(self, group: str, plural: str, resources: list[Resource]) -> None:
        """Serve a custom resource in exactly these versions."""
        served = {r.group_version for r in resources}
        for resource in resources:
            self.add(resource)
        for group_version in [gv for gv in self._served if _split(gv)[0] == group and gv not in served]:
            self._drop(group_version, plural)

    def _drop(self, group_version: str, plural: str) -> None:
        self._served[group_version].pop(plural, None)
        if not self._served[group_version]:
            del self._served[group_version]

    def remove(self, group: str, plural: str) -> None:
        """Stop serving a custom resource in all its versions."""
        for group_version in [gv for gv in self._served if _split(gv)[0] == group]:
            self._drop(group_version, plural)


def _split(group_version: str) -> tuple[str, str]:
    group, _, version = group_version.rpartition("/")
    return group, version


def _built_in(group_version: str, rows: list[dict[str, Any]]) -> Iterator[Resource]:
    group, version = _split(group_version)
    for row in rows:
        if "/" in row["name"]:
            continue
        plural = row["name"]
        mine = tuple(r for r in rows if r["name"].split("/")[0] == plural)
        yield Resource(
            group=group,
            version=version,
            plural=plural,
            kind=row["kind"],
            list_kind=row["kind"] + "List",
            namespaced=row["namespaced"],
            key=ALIASES.get((group, plural), (group, plural)),
            rows=mine,
            shape=builtin_shape(f"{group_version}/{row['kind']}"),
            subresources=frozenset(r["name"].partition("/")[2] for r in mine if "/" in r["name"]),
        )
