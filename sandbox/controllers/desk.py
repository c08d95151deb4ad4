"""What every part of the pretend cluster works with: its API connection, its copies, its clock, its misfortunes.

A part is a level-triggered controller: `reconcile` looks at everything and orders what is missing. Decisions of a
single part must never enter here.
"""

import asyncio
import hashlib
import sys
import time
from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from sandbox.controllers.afflictions import Afflictions
from sandbox.controllers.resources import EVENTS, PODS, Resource
from sandbox.kubernetes_client import MERGE_PATCH, Api, ApiError, Json, Mirror
from sandbox.scenario import Scenario

Result = TypeVar("Result")

WORLD_MOVED_ON = (404, 409)  # gone, changed or already there: the next lap looks again
REFUSED = (403, 422)  # quota, policy, an invalid template
ONES_OWN_FAULT = (400, 403, 405, 413, 415, 422)  # what the server has against one object, not against the caller
FACT_NAMES = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion")


class Part(Protocol):
    """One controller. It is built anew after a crash, so all it must remember is in the API."""

    def __init__(self, desk: "Desk") -> None: ...

    async def reconcile(self) -> float | None:
        """Look at everything and order what is missing.

        Returns the seconds after which it wants to look again although nothing changed; None: only on a change.
        """


@dataclass(slots=True)
class Desk:
    """The means of one part. `wake` is set by every change of a resource that the part has asked for."""

    api: Api
    scenario: Scenario
    afflictions: Afflictions
    mirrors: dict[str, Mirror]
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    used: list[Mirror] = field(default_factory=list)
    told: set[str] = field(default_factory=set)

    def mirror(self, resource: Resource) -> Mirror:
        """The copy of a resource, shared by the parts of one user; its changes wake this part."""
        path = resource.everywhere
        if path not in self.mirrors:
            self.mirrors[path] = Mirror(self.api, path)
        mirror = self.mirrors[path]
        mirror.wakes(self.wake)
        self.used.append(mirror)
        return mirror

    def seconds(self, name: str) -> float:
        """A duration of the scenario, by the world's clock."""
        return self.scenario.seconds(name)

    def scaled(self, seconds: float) -> float:
        """A duration in life, by the world's clock."""
        return seconds / self.scenario.speed

    async def guard(self, call: Awaitable[Result]) -> Result | None:
        """The result of what a part does for one object; None when the server has something against that object.

        It is reported once, and the other objects get their turn. Raises ApiError for everything else.
        """
        try:
            return await call
        except ApiError as refused:
            if refused.status not in ONES_OWN_FAULT:
                raise
            if str(refused) not in self.told:
                self.told.add(str(refused))
                report(str(refused))
            return None

    async def create(self, resource: Resource, item: Json) -> Json | None:
        """Create an object; None when the world moved on (the namespace went, the name is taken)."""
        path = resource.within(item["metadata"].get("namespace", ""))
        return self._note(resource, await settled(self.api.post(path, item)))

    async def create_pod(self, parent: Json, pod: Json, speaker: str) -> None:
        """Create a pod of `parent` and tell so; a refusal on the merits (quota, policy) is told, too, and not raised."""
        try:
            made = await self.create(PODS, pod)
        except ApiError as refused:
            if refused.status not in REFUSED:
                raise
            text = f"Error creating: {refused.body.get('message', '')}"
            await self.event(parent, "FailedCreate", text, component=speaker, type="Warning")
            return
        if made is not None:
            text = f"Created pod: {made['metadata']['name']}"
            await self.event(parent, "SuccessfulCreate", text, component=speaker)

    async def patch(
        self, resource: Resource, item: Json, change: Json, content_type: str = MERGE_PATCH, *, sub: str = ""
    ) -> Json | None:
        """Patch an object or its subresource; None when the world moved on."""
        return self._note(resource, await settled(self.api.patch(resource.at(item, sub), change, content_type)))

    async def delete(self, resource: Resource, item: Json, grace: int | None = None) -> None:
        """Delete exactly this object (by uid), in the background as the garbage collector does."""
        options: Json = {"preconditions": {"uid": item["metadata"]["uid"]}, "propagationPolicy": "Background"}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        answer = await settled(self.api.delete(resource.at(item), options))
        if answer is None:
            return
        waits = grace != 0 and "deletionTimestamp" in answer.get("metadata", {})
        if waits or item["metadata"].get("finalizers"):
            self._note(resource, answer)
        else:
            self._forget(resource, item)

    async def event(self, about: Json, reason: str, message: str, **fields: str) -> None:
        """Record an Event of the old kind, as controllers and kubelets do.

        `fields`: component (who speaks), host, type ("Warning"; else Normal), path (of a container).
        """
        at = stamp()
        involved = reference(about)
        if "path" in fields:
            involved["fieldPath"] = fields["path"]
        component = fields.get("component", "")
        source = {"component": component} | ({"host": fields["host"]} if "host" in fields else {})
        await settled(
            self.api.post(
                EVENTS.within(about["metadata"].get("namespace", "default")),
                {
                    "apiVersion": "v1",
                    "kind": "Event",
                    "metadata": {
                        "name": f"{about['metadata']['name']}.{time.time_ns():x}",
                        "namespace": about["metadata"].get("namespace", "default"),
                    },
                    "involvedObject": involved,
                    "type": fields.get("type", "Normal"),
                    "reason": reason,
                    "message": message,
                    "source": source,
                    "reportingComponent": component,
                    "reportingInstance": fields.get("host", ""),
                    "count": 1,
                    "firstTimestamp": at,
                    "lastTimestamp": at,
                },
            )
        )

    def _note(self, resource: Resource, item: Json | None) -> Json | None:
        mirror = self.mirrors.get(resource.everywhere)
        if mirror is not None and item is not None and "resourceVersion" in item.get("metadata", {}):
            mirror.note(item)
        return item

    def _forget(self, resource: Resource, item: Json) -> None:
        mirror = self.mirrors.get(resource.everywhere)
        if mirror is not None:
            mirror.forget(item)


def report(text: str) -> None:
    """Say on stderr what somebody who watches the world should know."""
    print(f"{time.strftime('%H:%M:%S')} controllers: {text}", file=sys.stderr, flush=True)


async def settled(call: Awaitable[Json]) -> Json | None:
    """The answer of a call; None when the object is gone, changed or already there."""
    try:
        return await call
    except ApiError as refused:
        if refused.status in WORLD_MOVED_ON:
            return None
        raise


def stamp() -> str:
    """Now, as Kubernetes writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_stamp() -> str:
    """Now, as Kubernetes writes a MicroTime."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def reference(item: Json) -> Json:
    """An ObjectReference to `item`."""
    facts = {"kind": item.get("kind", ""), "apiVersion": item.get("apiVersion", ""), **item["metadata"]}
    return {name: facts[name] for name in FACT_NAMES if facts.get(name)}


def owner(item: Json) -> Json:
    """A controlling ownerReference to `item`."""
    return {
        "apiVersion": item["apiVersion"],
        "kind": item["kind"],
        "name": item["metadata"]["name"],
        "uid": item["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def digest(text: str, length: int = 10) -> str:
    """A short name part like those that Kubernetes makes from templates: no vowels, no look-alikes."""
    alphabet = "bcdfghjklmnpqrstvwxz2456789"
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:12])
    letters = []
    for _ in range(length):
        number, rest = divmod(number, len(alphabet))
        letters.append(alphabet[rest])
    return "".join(letters)
