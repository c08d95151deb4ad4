"""The mark of a migration in the cluster itself: a Lease that names run, instance and fence.

Whoever looks, be it a second bot on another store or this one after losing its own, sees it. It says nothing about
whose right it is; that is decided elsewhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.adapters.kubernetes import bodies
from bot.adapters.kubernetes.answers import refuse
from bot.adapters.kubernetes.connection import Call, Connection, checked, segment
from bot.adapters.kubernetes.fields import Json, count, moment, strings, table, text

NAME = "gpu-migrate"
PREFIX = "gpu-migrate/"


@dataclass(frozen=True, slots=True)
class Marker:
    """The Lease as it stands. `revision` is what the next write must name."""

    holder: str
    annotations: Mapping[str, str] = field(default_factory=dict)
    renewed_at: datetime | None = None
    seconds: int = 0
    revision: str = ""
    uid: str = ""


def collection(namespace: str) -> str:
    return f"/apis/coordination.k8s.io/v1/namespaces/{segment(namespace)}/leases"


def path(namespace: str) -> str:
    return f"{collection(namespace)}/{NAME}"


def project(raw: Json) -> Marker:
    metadata, spec = table(raw, "metadata"), table(raw, "spec")
    notes = strings(metadata, "annotations")
    return Marker(
        holder=text(spec, "holderIdentity"),
        annotations={name: value for name, value in notes.items() if name.startswith(PREFIX)},
        renewed_at=moment(spec, "renewTime"),
        seconds=count(spec, "leaseDurationSeconds"),
        revision=text(metadata, "resourceVersion"),
        uid=text(metadata, "uid"),
    )


class Markers:
    """Reads and writes the marker of one cluster; every write names the revision it replaces."""

    def __init__(self, connection: Connection, namespace: str, clock: Callable[[], datetime]) -> None:
        self._connection = connection
        self._namespace = namespace
        self._clock = clock

    async def read(self) -> Marker | None:
        raw = await self._connection.get(path(self._namespace))
        return None if raw is None else project(raw)

    async def write(self, marker: Marker, expected: Marker | None) -> Marker | None:
        """Set holder, annotations and seconds of `marker`, with renewTime now, on what was read before (None: create).

        Gives the marker as it now stands, or None when somebody else wrote in between (read again and judge).
        """
        body = self._lease(marker, expected)
        if expected is None:
            call = Call("POST", collection(self._namespace), {"fieldManager": NAME}, body)
        else:
            call = Call("PUT", path(self._namespace), {"fieldManager": NAME}, body)
        answer = await self._connection.call(call)
        if answer.status == 409:
            return None
        return project(checked(answer, mutating=True).body)

    async def remove(self, expected: Marker) -> bool:
        """Delete it unless somebody else wrote in between; True when it is gone."""
        body = bodies.deletion(expected.uid, expected.revision)
        answer = await self._connection.call(Call("DELETE", path(self._namespace), {}, body))
        if answer.status == 409:
            return False
        if answer.status == 404 or 200 <= answer.status < 300:
            return True
        raise refuse(answer, mutating=True)

    def _lease(self, marker: Marker, expected: Marker | None) -> Json:
        revision = expected.revision if expected is not None else ""
        metadata = bodies.metadata(NAME, self._namespace, marker.annotations, revision)
        return bodies.lease(metadata, marker.holder, marker.seconds, self._clock())
