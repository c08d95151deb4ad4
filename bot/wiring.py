"""The composition root: the only place that builds adapters and ties them to the loop.

Imported inside commands only, since it pulls in every client library.
"""

import asyncio
import signal
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog

from bot.adapters.clock import SystemClock
from bot.adapters.helm import HelmCli
from bot.adapters.iks.client import IksClient
from bot.adapters.iks.connections import Network
from bot.adapters.iks.iam import Grant, api_key, compute_resource, trusted_profile
from bot.adapters.iks.rest import IksRest
from bot.adapters.kubeconfigs import KubeconfigCache
from bot.adapters.kubernetes.cluster import KubernetesCluster
from bot.adapters.kubernetes.settings import Settings as KubernetesSettings
from bot.braking import FailureRate
from bot.config import Settings
from bot.desk import Setup
from bot.messages.words import Words
from bot.metrics import Metrics
from bot.perform import Hands
from bot.points import Points
from bot.ports import Chat, Kubernetes
from bot.surroundings import Surroundings
from bot.telling import Teller
from state.braking import why
from state.reasons import Reason
from state.store import RedisStore, open_store

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Adapters:
    """What every command needs; which of them is opened depends on the command."""

    settings: Settings
    iks: IksClient
    clock: SystemClock
    helm: HelmCli
    kubeconfigs: dict[str, KubeconfigCache]

    def iks_of(self, cluster: str) -> IksRest:
        chosen = self.settings.clusters[cluster]
        return IksRest(self.iks, chosen.resource_group, chosen.endpoint_type)

    def kubeconfig_of(self, cluster: str, cluster_id: str) -> KubeconfigCache:
        """One cache per cluster, shared by the connection and helm."""
        if cluster_id not in self.kubeconfigs:
            iks = self.iks_of(cluster)
            self.kubeconfigs[cluster_id] = KubeconfigCache(lambda: iks.kubeconfig(cluster_id))
        return self.kubeconfigs[cluster_id]

    async def kubernetes(self, cluster: str, cluster_id: str) -> Kubernetes:
        chart = self.settings.clusters[cluster].policy.chart
        return KubernetesCluster(
            self.kubeconfig_of(cluster, cluster_id),
            clock=self.clock.now,
            settings=KubernetesSettings(namespace=chart.namespace, proxy=self.settings.proxy),
        )


@asynccontextmanager
async def open_adapters(settings: Settings) -> AsyncIterator[Adapters]:
    """Sessions to IBM Cloud, and what needs none."""
    network = Network(settings.proxy, settings.ca_bundle, settings.iks_requests)
    iks = IksClient(settings.iks_url, settings.iam_url, _grant(settings), network)
    ca_bundle = str(settings.ca_bundle) if settings.ca_bundle else ""
    try:
        yield Adapters(
            settings, iks, SystemClock(), HelmCli(settings.helm, ca_bundle=ca_bundle, proxy=settings.proxy), {}
        )
    finally:
        await iks.aclose()


def _grant(settings: Settings) -> Grant:
    token_file = settings.iam_token_file
    if token_file is not None:
        return compute_resource(lambda: token_file.read_text(encoding="utf-8").strip(), settings.iam_profile)
    own = api_key(lambda: settings.secret("IBMCLOUD_API_KEY"))
    return trusted_profile(own, settings.iam_profile) if settings.iam_profile else own


@asynccontextmanager
async def opened_store(settings: Settings) -> AsyncIterator[RedisStore]:
    ca_bundle = str(settings.ca_bundle) if settings.ca_bundle else ""
    store = await open_store(
        settings.secret("REDIS_URL"),
        replica=settings.replica,
        ca_bundle=ca_bundle,
        wait_replicas=settings.redis_replicas,
        retention_days=settings.retention_days,
    )
    try:
        yield store
    finally:
        await store.aclose()


def setup_of(settings: Settings) -> Setup:
    return Setup(settings.policies(), {name: settings.channel_of(name) for name in settings.clusters})


def surroundings(adapters: Adapters, store: RedisStore, chat: Chat, words: Words, points: Points) -> Surroundings:
    """Tie the ports together for the loop; its hands and its keepers reach the same points."""
    instance = f"{adapters.settings.replica}.{store.ownership.replica.epoch}"

    async def brake() -> Reason | None:
        return why(await store.get_brake())

    def hands(cluster: str, cluster_id: str, kubernetes: Kubernetes) -> Hands:
        async def kubeconfig() -> bytes:
            return (await adapters.kubeconfig_of(cluster, cluster_id).current()).raw

        return Hands(
            instance=instance,
            iks=adapters.iks_of(cluster),
            kubernetes=kubernetes,
            helm=adapters.helm,
            ownership=store.ownership,
            clock=adapters.clock,
            kubeconfig=kubeconfig,
            brake=brake,
            points=points,
        )

    return Surroundings(
        instance=instance,
        store=store.runs,
        chat=chat,
        iks=adapters.iks_of,
        clock=adapters.clock,
        words=words,
        teller=Teller(chat, store.runs, words, adapters.clock),
        metrics=Metrics(),
        hands=hands,
        kubernetes=adapters.kubernetes,
        fleet=store.fleet,
        failures=FailureRate(store.fleet, adapters.settings.brake),
        points=points,
    )


def tls_of(settings: Settings) -> ssl.SSLContext | None:
    """What Slack's certificates are checked against; None for the system's own trust."""
    return ssl.create_default_context(cafile=str(settings.ca_bundle)) if settings.ca_bundle else None


async def wait_for_signal() -> None:
    """Until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await stop.wait()
