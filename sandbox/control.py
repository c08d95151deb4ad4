"""The world's own door: what happened in it, and what shall go wrong.

    GET    /healthz
    GET    /journal?since=N&system=iks     accepted and refused calls, oldest first
    GET    /faults                         rules in force; POST adds one (sandbox/faults.py), DELETE ?id=N or all
    GET    /knobs                          IBM's cloud (sandbox/iks/knobs.py); POST {"name","value"}, DELETE all
    GET    /afflictions                    nodes and images; POST {"cluster","kind",…}, DELETE ?cluster=&id=
    POST   /acts/{name}                    somebody else does something at once: {"cluster",…} (ACTS below)

Errors are 400 with {"error": sentence}. Nothing here decides what a call means in a pretend system.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Any, Protocol

from aiohttp import web

from sandbox.faults import Faults
from sandbox.iks import provisioning
from sandbox.iks.cloud import Cloud
from sandbox.iks.iam import Accounts
from sandbox.iks.model import Cluster, Pool
from sandbox.journal import Journal

Body = dict[str, Any]
STRANGER = "IBMid-660001STRANGER"


class Afflictions(Protocol):
    """Misfortunes of one cluster's nodes and images."""

    def add(self, kind: str, **parts: Any) -> Any: ...

    def remove(self, affliction_id: int | None = None) -> None: ...

    def as_json(self) -> list[dict[str, Any]]: ...


class ControlServer:
    """The control server of one world. `afflictions`: by cluster name."""

    def __init__(
        self,
        journal: Journal,
        faults: Faults,
        cloud: Cloud,
        accounts: Accounts,
        afflictions: Mapping[str, Afflictions],
    ) -> None:
        self._journal = journal
        self._faults = faults
        self._cloud = cloud
        self._accounts = accounts
        self._afflictions = afflictions

    def app(self) -> web.Application:
        app = web.Application(middlewares=[_sentences])
        app.add_routes(
            [
                web.get("/healthz", self._healthz),
                web.get("/journal", self._read_journal),
                web.get("/faults", self._read_faults),
                web.post("/faults", self._add_fault),
                web.delete("/faults", self._remove_faults),
                web.get("/knobs", self._read_knobs),
                web.post("/knobs", self._turn_knob),
                web.delete("/knobs", self._clear_knobs),
                web.get("/afflictions", self._read_afflictions),
                web.post("/afflictions", self._afflict),
                web.delete("/afflictions", self._cure),
                web.post("/acts/{name}", self._act),
            ]
        )
        return app

    async def _healthz(self, _: web.Request) -> web.Response:
        failures = [repr(failure) for failure in self._cloud.background.failures]
        return web.json_response({"ok": not failures, "failures": failures}, status=500 if failures else 200)

    async def _read_journal(self, request: web.Request) -> web.Response:
        since, system = int(request.query.get("since", "0")), request.query.get("system", "")
        rows = [row for row in self._journal.as_json(since) if system in ("", row["system"])]
        return web.json_response(rows)

    async def _read_faults(self, _: web.Request) -> web.Response:
        return web.json_response([asdict(rule) for rule in self._faults.rules])

    async def _add_fault(self, request: web.Request) -> web.Response:
        body = await _body(request)
        if "id" in body:
            raise ValueError("the id of a fault is given by the world")
        return web.json_response(asdict(self._faults.add(**body)), status=201)

    async def _remove_faults(self, request: web.Request) -> web.Response:
        self._faults.remove(int(request.query["id"]) if "id" in request.query else None)
        return await self._read_faults(request)

    async def _read_knobs(self, _: web.Request) -> web.Response:
        return web.json_response(asdict(self._cloud.knobs))

    async def _turn_knob(self, request: web.Request) -> web.Response:
        body = await _body(request)
        self._cloud.knobs.turn(str(body.get("name", "")), body.get("value"))
        return await self._read_knobs(request)

    async def _clear_knobs(self, request: web.Request) -> web.Response:
        self._cloud.knobs.clear()
        return await self._read_knobs(request)

    async def _read_afflictions(self, _: web.Request) -> web.Response:
        return web.json_response({name: one.as_json() for name, one in self._afflictions.items()})

    async def _afflict(self, request: web.Request) -> web.Response:
        body = await _body(request)
        where = self._of(str(body.pop("cluster", "")))
        where.add(str(body.pop("kind", "")), **body)
        return await self._read_afflictions(request)

    async def _cure(self, request: web.Request) -> web.Response:
        number = int(request.query["id"]) if "id" in request.query else None
        names = [request.query["cluster"]] if "cluster" in request.query else list(self._afflictions)
        for name in names:
            self._of(name).remove(number)
        return await self._read_afflictions(request)

    def _of(self, cluster: str) -> Afflictions:
        if cluster not in self._afflictions:
            raise ValueError(f"no cluster {cluster!r}; known: {', '.join(self._afflictions)}")
        return self._afflictions[cluster]

    async def _act(self, request: web.Request) -> web.Response:
        acts: dict[str, Callable[[Body], Awaitable[Body]]] = {
            "resize": self._resize,
            "autobalance": self._autobalance,
            "replace": self._replace,
            "outage": self._outage,
            "forget_tokens": self._forget_tokens,
        }
        name = request.match_info["name"]
        if name not in acts:
            raise ValueError(f"no act {name!r}; known: {', '.join(acts)}")
        return web.json_response(await acts[name](await _body(request)))

    async def _resize(self, body: Body) -> Body:
        """Let somebody else change a pool's size: {"cluster","pool","size"}."""
        cluster, pool = self._pool(body)
        for zone in pool.zones:
            zone.wanted = int(body["size"])
        provisioning.shrink(self._cloud, cluster, pool)
        provisioning.fill(self._cloud, cluster, pool)
        self._stranger(cluster, "resizeWorkerPool", pool.id, size=int(body["size"]))
        return {"pool": pool.id}

    async def _autobalance(self, body: Body) -> Body:
        """Switch a pool's automatic rebalancing: {"cluster","pool","on"}."""
        _, pool = self._pool(body)
        for zone in pool.zones:
            zone.autobalance = bool(body.get("on", False))
        return {"pool": pool.id}

    async def _replace(self, body: Body) -> Body:
        """Let somebody else replace a worker: {"cluster","worker","update"}."""
        cluster = self._cluster(body)
        worker = cluster.workers.get(str(body.get("worker")))
        if worker is None or worker.going:
            raise ValueError(f"no worker {body.get('worker')!r} that could be replaced")
        provisioning.replace(self._cloud, cluster, worker, update=bool(body.get("update", True)))
        self._stranger(cluster, "replaceWorker", worker.id)
        return {"worker": worker.id}

    async def _outage(self, body: Body) -> Body:
        """Let a cluster's API server refuse connections: {"cluster","seconds"} (real seconds)."""
        cluster = self._cluster(body)
        version = f"v{cluster.master.version.split('_', maxsplit=1)[0]}+IKS"
        work = self._cloud.side(cluster).restart(version, float(body.get("seconds", 5)))
        self._cloud.background.start(work, f"outage of {cluster.name}")
        return {"cluster": cluster.id}

    async def _forget_tokens(self, _: Body) -> Body:
        """Make every IAM token that is out invalid."""
        self._accounts.revoke_all()
        return {}

    def _cluster(self, body: Body) -> Cluster:
        found = self._cloud.found(str(body.get("cluster", "")))
        if found is None:
            raise ValueError(f"no cluster {body.get('cluster')!r}")
        return found

    def _pool(self, body: Body) -> tuple[Cluster, Pool]:
        cluster = self._cluster(body)
        pool = cluster.pool(str(body.get("pool", "default")))
        if pool is None:
            raise ValueError(f"no pool {body.get('pool')!r} in {cluster.name}")
        return cluster, pool

    def _stranger(self, cluster: Cluster, verb: str, target: str, **effect: Any) -> None:
        self._journal.add("iks", verb, target, cluster=cluster.name, actor=STRANGER, status=204, effect=effect)


@web.middleware
async def _sentences(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Turn what was asked wrongly into a sentence."""
    try:
        return await handler(request)
    except (ValueError, TypeError, KeyError) as wrong:
        return web.json_response({"error": str(wrong)}, status=400)


async def _body(request: web.Request) -> Body:
    body = await request.json() if request.can_read_body else {}
    if not isinstance(body, dict):
        raise TypeError("the body must be a JSON object")
    return body
