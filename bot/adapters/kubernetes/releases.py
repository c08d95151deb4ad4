"""Helm releases of the operator, read from Helm's own Secrets in all namespaces.

A release's Secret can hold a megabyte, and a cluster can hold hundreds that are none of our business. So only metadata
is listed, and a Secret is fetched and decoded once per version of it.
"""

import asyncio
import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.adapters.kubernetes.connection import Connection, segment
from bot.adapters.kubernetes.fields import Json, moment, strings, table, text
from bot.adapters.kubernetes.listing import Source, list_all
from bot.adapters.kubernetes.settings import Limits
from state.snapshot import Release

CHART = "gpu-operator"
METADATA_ONLY = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
LARGEST_RELEASE = 32 * 1024 * 1024
MOST_KNOWN = 2048
AT_ONCE = 4
GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Revision:
    """One Secret of Helm: a revision of a release, by its labels."""

    namespace: str
    secret: str
    release: str
    number: int
    status: str
    version: str
    modified: datetime | None


@dataclass(frozen=True, slots=True)
class Chart:
    """What is inside: chart name and version, and when it was last deployed. Empty when it cannot be read."""

    name: str = ""
    version: str = ""
    deployed_at: datetime | None = None


class Releases:
    """Reads the releases; remembers the charts of revisions that it has decoded."""

    def __init__(self, connection: Connection, limits: Limits, namespace: str) -> None:
        self._connection = connection
        self._limits = limits
        self._namespace = namespace
        self._charts: dict[tuple[str, str, str], Chart] = {}
        self._few = asyncio.Semaphore(AT_ONCE)

    async def read(self) -> tuple[Release, ...]:
        """Give the newest revision of each release of the operator's chart.

        One that cannot be decoded is given without a chart when its name or namespace is the operator's.
        """
        source = Source("/api/v1/secrets", project_revision, {"labelSelector": "owner=helm"}, METADATA_ONLY)
        listing = await list_all(self._connection, source, self._limits)
        revisions = newest(listing.records)
        charts = await asyncio.gather(*(self._chart(revision) for revision in revisions))
        found = (self._release(revision, chart) for revision, chart in zip(revisions, charts, strict=True))
        return tuple(release for release in found if release is not None)

    async def _chart(self, revision: Revision) -> Chart:
        key = (revision.namespace, revision.secret, revision.version)
        known = self._charts.get(key)
        if known is not None:
            return known
        path = f"/api/v1/namespaces/{segment(revision.namespace)}/secrets/{segment(revision.secret)}"
        async with self._few:
            raw = await self._connection.get(path)
        if raw is None:
            return Chart()
        chart = await asyncio.to_thread(decode, text(table(raw, "data"), "release"))
        if len(self._charts) >= MOST_KNOWN:
            self._charts.clear()
        self._charts[key] = chart
        return chart

    def _release(self, revision: Revision, chart: Chart) -> Release | None:
        ours = chart.name == CHART
        unread = not chart.name and (CHART in revision.release or revision.namespace == self._namespace)
        if not ours and not unread:
            return None
        return Release(
            name=revision.release,
            namespace=revision.namespace,
            chart=f"{chart.name}-{chart.version}" if ours else "",
            status=revision.status,
            revision=revision.number,
            updated_at=chart.deployed_at or revision.modified,
        )


def project_revision(raw: Json) -> Revision | None:
    metadata = table(raw, "metadata")
    labels = strings(metadata, "labels")
    number = labels.get("version", "")
    if labels.get("owner") != "helm" or not labels.get("name") or not number.isdecimal():
        return None
    return Revision(
        namespace=text(metadata, "namespace"),
        secret=text(metadata, "name"),
        release=labels["name"],
        number=int(number),
        status=labels.get("status", "unknown"),
        version=text(metadata, "resourceVersion"),
        modified=_modified(labels) or moment(metadata, "creationTimestamp"),
    )


def newest(revisions: tuple[Revision, ...]) -> tuple[Revision, ...]:
    """Keep the highest revision of each release; older ones can lie (a rolled back pending-install stays for ever)."""
    found: dict[tuple[str, str], Revision] = {}
    for revision in revisions:
        key = (revision.namespace, revision.release)
        if key not in found or found[key].number < revision.number:
            found[key] = revision
    return tuple(found[key] for key in sorted(found))


def decode(data: str) -> Chart:
    """Read a release: base64 (Secret) of base64 (Helm) of gzip of JSON. An empty Chart when it is anything else."""
    try:
        packed = base64.b64decode(base64.b64decode(data, validate=True), validate=True)
        if packed.startswith(GZIP):
            packed = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(packed, LARGEST_RELEASE)
        release = json.loads(packed)
    except (binascii.Error, ValueError, zlib.error, RecursionError):
        return Chart()
    if not isinstance(release, dict):
        return Chart()
    metadata = table(table(release, "chart"), "metadata")
    deployed = moment(table(release, "info"), "last_deployed")
    return Chart(text(metadata, "name"), text(metadata, "version"), deployed)


def _modified(labels: Mapping[str, str]) -> datetime | None:
    seconds = labels.get("modifiedAt") or labels.get("createdAt") or ""
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None
