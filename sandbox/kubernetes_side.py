"""IBM's machines as users of a cluster's API server: nodes that register, fall silent and are deleted.

An ordinary API client, so that it also works against a real kube-apiserver; only `restart` and `access` need the
pretend one. Lifecycles are decided in sandbox/iks.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from ssl import SSLContext
from typing import Any, Protocol
from urllib.parse import quote

from sandbox.controllers.nodes import lost_status, node_manifest
from sandbox.iks.iam import jwt
from sandbox.iks.ports import Access, Machine
from sandbox.kubernetes_client import MERGE_PATCH, STRATEGIC_PATCH, Api, ApiError
from sandbox.serving import Door, Served
from sandbox.tokens import MASTERS, Tokens

NODES = "/api/v1/nodes"
WORKER_ID = "ibm-cloud.kubernetes.io/worker-id"
ADMINS = "ibm-admin"  # group that the binding of the same name makes cluster-admin, as IBM's RBAC sync does
PATIENCE = 60.0  # seconds that a machine keeps trying while the API server is away
PAUSE = 0.1
BINDING: dict[str, Any] = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": ADMINS},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
    "subjects": [{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": ADMINS}],
}


class ControlPlane(Protocol):
    """The pretend API server's switches."""

    async def outage(self, seconds: float) -> None:
        """Refuse connections from now on, for that long; returns when it is over."""

    def set_version(self, git_version: str) -> None:
        """Answer /version as this one, such as v1.36.0+IKS."""


class Entrance:
    """The address of an API server that customers know. `ca`: PEM of its authority."""

    def __init__(self, served: Served, door: Door, context: SSLContext, ca: str) -> None:
        self.ca = ca
        self._served = served
        self._door = door
        self._context = context

    @property
    def url(self) -> str:
        return self._door.url

    async def move(self) -> None:
        """Answer at another address, and no longer at the old one."""
        old = self._door
        self._door = await self._served.open_door(self._context)
        await old.aclose()


class ClusterSide:
    """One cluster's Kubernetes for IBM's machines (sandbox/iks/ports.py).

    `api` reaches the server from inside and always; customers come through `entrance`, which may move.
    """

    def __init__(self, control_plane: ControlPlane, tokens: Tokens, api: Api, entrance: Entrance) -> None:
        self._control_plane = control_plane
        self._tokens = tokens
        self._api = api
        self._entrance = entrance

    @property
    def url(self) -> str:
        return self._entrance.url

    async def join(self, machine: Machine) -> None:
        manifest = node_manifest(
            machine.worker_id,
            machine.ip,
            machine.flavor,
            machine.version,
            machine.pool_id,
            machine.pool_name,
            machine.zone,
            machine.operating_system,
            machine.labels,
            machine.taints,
            machine.preinstalled,
        )
        status = manifest["status"]
        await _persist(lambda: self._api.post(NODES, manifest), fine=(409,))
        await _persist(lambda: self._api.patch(f"{_node(machine.ip)}/status", {"status": status}, STRATEGIC_PATCH))

    async def lost(self, ip: str) -> None:
        await _persist(lambda: self._api.patch(f"{_node(ip)}/status", lost_status(), STRATEGIC_PATCH), fine=(404,))

    async def leave(self, ip: str, worker_id: str) -> None:
        node = await _persist(lambda: self._api.get(_node(ip)), fine=(404,))
        if node is None or (node["metadata"].get("labels") or {}).get(WORKER_ID) != worker_id:
            return
        options = {"preconditions": {"uid": node["metadata"]["uid"]}}
        await _persist(lambda: self._api.delete(_node(ip), options), fine=(404, 409))

    async def relabel(self, ip: str, labels: Mapping[str, str | None]) -> None:
        change = {"metadata": {"labels": dict(labels)}}
        await _persist(lambda: self._api.patch(_node(ip), change, MERGE_PATCH), fine=(404,))

    async def retaint(self, ip: str, taints: Mapping[str, str], old: Mapping[str, str]) -> None:
        node = await _persist(lambda: self._api.get(_node(ip)), fine=(404,))
        if node is None:
            return
        kept = [row for row in node["spec"].get("taints") or () if row["key"] not in {*old, *taints}]
        new = [
            {"key": key, "value": value, "effect": effect}
            for key, (value, _, effect) in ((key, text.rpartition(":")) for key, text in taints.items())
        ]
        change = {"spec": {"taints": kept + new}}
        await _persist(lambda: self._api.patch(_node(ip), change, MERGE_PATCH), fine=(404,))

    async def restart(self, version: str, gap: float, *, moves: bool = False) -> None:
        self._control_plane.set_version(version)
        if moves:
            await self._entrance.move()
        await self._control_plane.outage(gap)

    def access(self, user: str, life: float, *, admin: bool) -> Access:
        if admin:
            return Access(self.url, self._entrance.ca, self._tokens.issue(user, (MASTERS,), life))
        token = self._tokens.issue(user, (ADMINS,), life, jwt(user, life))
        return Access(self.url, self._entrance.ca, token)


def _node(ip: str) -> str:
    return f"{NODES}/{quote(ip, safe='')}"


async def _persist(call: Callable[[], Awaitable[dict[str, Any]]], fine: tuple[int, ...] = ()) -> dict[str, Any] | None:
    """Make a call, again and again while the server is away or busy; None for an answer that is fine as it is.

    Raises ApiError when it is refused, or when the server stays away.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + PATIENCE
    while True:
        try:
            return await call()
        except ApiError as refused:
            if refused.status in fine:
                return None
            away = refused.status in (0, 429) or refused.status >= 500
            if not away or loop.time() > deadline:
                raise
        await asyncio.sleep(PAUSE)
