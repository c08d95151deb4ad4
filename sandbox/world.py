"""The pretend world in one process: every server on loopback, every controller, one journal.

    python -m sandbox.world --scenario guide-example-2 --dir DIR [--speed N] [--port P] [--redis URL] [--control-plane]

It writes DIR/endpoints.json when all is up, and ends on SIGTERM or Ctrl-C. Only composition belongs here.
"""

import argparse
import asyncio
import os
import signal
import ssl
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from sandbox import endpoints as endpoints_file
from sandbox import seeding, valkey
from sandbox.background import Background
from sandbox.certificates import Certificates, make_certificates
from sandbox.control import ControlServer
from sandbox.control_plane import PLANES, binaries
from sandbox.control_plane.front import Front
from sandbox.control_plane.plane import Plane
from sandbox.control_plane.running import parts_beside, running
from sandbox.controllers.afflictions import Afflictions
from sandbox.controllers.run import ALL, run_controllers
from sandbox.endpoints import Endpoints
from sandbox.faults import Faults
from sandbox.helm_repository.server import HelmRepository
from sandbox.iks.cloud import Cloud
from sandbox.iks.iam import API_KEY, Accounts, IamServer
from sandbox.iks.kubeconfigs import FOREVER, kubeconfig
from sandbox.iks.model import Cluster
from sandbox.iks.server import BASE, IksServer
from sandbox.journal import Journal
from sandbox.kubernetes.server import KubernetesServer
from sandbox.kubernetes_client import Api
from sandbox.kubernetes_side import ClusterSide, Entrance
from sandbox.scenario import Scenario, load
from sandbox.serving import Served, serve
from sandbox.slack.server import SlackServer
from sandbox.tokens import MASTERS, Tokens

ADMIN = "system:admin"


@dataclass(slots=True)
class World:
    """A running world; `endpoints` says where it answers. Open it with `opened`, then close it.

    `binaries`: programs of a real control plane that the clusters run on; None: on the emulator.
    """

    scenario: Scenario
    folder: Path
    file: str = endpoints_file.NAME
    binaries: Path | None = None
    journal: Journal = field(default_factory=Journal)
    faults: Faults = field(default_factory=Faults)
    sides: dict[str, ClusterSide] = field(default_factory=dict)
    apis: dict[str, Api] = field(default_factory=dict)
    afflictions: dict[str, Afflictions] = field(default_factory=dict)
    background: Background = field(default_factory=Background)
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)
    _cloud: Cloud | None = None
    _endpoints: Endpoints | None = None

    @property
    def cloud(self) -> Cloud:
        assert self._cloud is not None
        return self._cloud

    @property
    def endpoints(self) -> Endpoints:
        assert self._endpoints is not None
        return self._endpoints

    async def start(self, redis: str = "", port: int = 0) -> None:
        """Bring everything up; `port` is the Slack page's.

        Raises OSError when a port is taken, SeedingError when a cluster does not settle.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self._cloud = Cloud(self.scenario, self.journal, self.sides)
        self._open.push_async_callback(self.cloud.aclose)
        certificates = make_certificates()
        tokens = {name: Tokens() for name in (cluster.name for cluster in self.cloud.clusters.values())}
        for cluster in self.cloud.clusters.values():
            await self._start_cluster(cluster, tokens[cluster.name], certificates)
        self._open.push_async_callback(self.background.aclose)
        await asyncio.gather(*(seeding.settle(api) for api in self.apis.values()))
        self._endpoints = await self._serve(redis, port)
        endpoints_file.write(self.folder, self.endpoints, self.file)

    async def aclose(self) -> None:
        endpoints_file.remove(self.folder, self.file)
        await self._open.aclose()

    async def _start_cluster(self, cluster: Cluster, tokens: Tokens, certificates: Certificates) -> None:
        name = cluster.name
        version = f"v{cluster.master.version.split('_', maxsplit=1)[0]}+IKS"
        server = await self._api_server(name, tokens, version, certificates)
        context = _server_context(certificates, self.folder)
        served = await self._keep(server.app(), context=context)
        entrance = Entrance(served, await served.open_door(context), context, certificates.authority)
        trust = ssl.create_default_context(cadata=certificates.authority)
        api = Api(served.url, tokens.issue(ADMIN, (MASTERS,)), trust, agent="sandbox/world")
        machines = Api(served.url, tokens.issue("ibm-cloud", (MASTERS,)), trust, agent="sandbox/ibm-cloud")
        self._open.push_async_callback(api.aclose)
        self._open.push_async_callback(machines.aclose)
        self.apis[name] = api
        self.sides[name] = ClusterSide(server, tokens, machines, entrance)
        self.afflictions[name] = Afflictions()
        await seeding.seed(self.cloud, cluster, api)
        parts = ALL if self.binaries is None else parts_beside(self.binaries)
        work = run_controllers(served.url, tokens.issue, self.scenario, parts, self.afflictions[name], trust)
        self.background.start(work, f"controllers of {name}")

    async def _api_server(
        self, name: str, tokens: Tokens, version: str, certificates: Certificates
    ) -> KubernetesServer | Front:
        if self.binaries is None:
            return KubernetesServer(name, self.journal, self.faults, tokens, version)
        plane = Plane.planned(self.binaries, (self.folder / PLANES / name).resolve(), certificates)
        await self._open.enter_async_context(running(plane, tokens))
        front = Front(name, self.journal, self.faults, tokens, version)
        front.stands_before(plane.url, plane.trust())
        return front

    async def _serve(self, redis: str, port: int) -> Endpoints:
        accounts = Accounts(self.cloud.token_life)
        iks = await self._keep(IksServer(self.cloud, accounts, self.journal, self.faults).app())
        iam = await self._keep(IamServer(accounts, self.journal, self.faults).app())
        helm = await self._keep(HelmRepository(self.faults).app())
        workspace = SlackServer(self.scenario, self.journal, self.faults)
        slack = await self._keep(workspace.app(), port)
        control = ControlServer(self.journal, self.faults, self.cloud, accounts, self.afflictions)
        door = await self._keep(control.app())
        return Endpoints(
            scenario=self.scenario.name,
            speed=self.scenario.speed,
            slack_api=f"{slack.url}/api/",
            slack_page=f"{slack.url}/",
            iks=f"{iks.url}{BASE}",
            iam=iam.url,
            redis=redis,
            control=door.url,
            journal=f"{door.url}/journal",
            faults=f"{door.url}/faults",
            helm_repository=helm.url,
            kubeconfigs=self._kubeconfigs(),
            credentials={
                "iam_api_key": API_KEY,
                "slack_bot_token": workspace.bot_token,
                "slack_app_token": workspace.app_token,
                "slack_signing_secret": workspace.signing_secret,
            },
            pids={"world": os.getpid()},
        )

    def _kubeconfigs(self) -> dict[str, str]:
        """Write a file for people, for each cluster."""
        folder = self.folder / "kubeconfigs"
        folder.mkdir(exist_ok=True)
        paths = {}
        for cluster in self.cloud.clusters.values():
            access = self.sides[cluster.name].access(ADMIN, FOREVER, admin=True)
            path = folder / f"{cluster.name}.yaml"
            path.touch(mode=0o600)
            path.write_text(yaml.safe_dump(kubeconfig(cluster, access, ADMIN, admin=True), sort_keys=False))
            paths[cluster.name] = str(path.resolve())
        return paths

    async def _keep(self, app: Any, port: int = 0, context: ssl.SSLContext | None = None) -> Served:
        served = await serve(app, port, context)
        self._open.push_async_callback(served.aclose)
        return served


def _server_context(certificates: Certificates, folder: Path) -> ssl.SSLContext:
    path = folder / "api-server.pem"
    path.touch(mode=0o600)
    path.write_text(certificates.server + certificates.key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(path)
    return context


async def run(world: World, port: int, redis: str) -> None:
    """Run a world until SIGTERM or Ctrl-C."""
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    try:
        starting = asyncio.ensure_future(world.start(redis, port))
        ending = asyncio.ensure_future(ended.wait())
        await asyncio.wait((starting, ending), return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
        await starting
        print(f"sandbox: {world.scenario.title}; page {world.endpoints.slack_page}", flush=True)
        await ending
    except asyncio.CancelledError:
        print("sandbox: ended before it was up", file=sys.stderr)
    finally:
        await world.aclose()


def main() -> int:
    """Run a world from the command line; 1 with a sentence when it does not come up."""
    parser = argparse.ArgumentParser(prog="sandbox.world", description="Run a pretend world on loopback.")
    parser.add_argument("--scenario", default="guide-example-2")
    parser.add_argument("--dir", type=Path, default=Path(".sandbox"))
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--port", type=int, default=0, help="port of the Slack page; 0 takes a free one")
    parser.add_argument("--redis", default="", help="URL of a store; without it a Valkey is started in DIR/valkey")
    parser.add_argument("--file", default=endpoints_file.NAME, help="name of the file of addresses in DIR")
    parser.add_argument("--control-plane", action="store_true", help="run the clusters on a real control plane")
    chosen = parser.parse_args()
    try:
        scenario = load(chosen.scenario, chosen.speed)
        redis = chosen.redis or valkey.start(chosen.dir / "valkey").url
        programs = binaries.find() if chosen.control_plane else None
        asyncio.run(run(World(scenario, chosen.dir, chosen.file, programs), chosen.port, redis))
    except (OSError, RuntimeError, KeyError, TypeError, yaml.YAMLError) as failure:
        print(f"sandbox: the world does not start: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
