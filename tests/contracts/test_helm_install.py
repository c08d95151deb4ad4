"""The helm adapter with the real helm 4 against the pretend API server and chart repository."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import pytest

from bot.adapters.helm import HelmCli
from sandbox.faults import Faults
from sandbox.helm_repository.server import HelmRepository
from sandbox.serving import serve
from state.errors import OutcomeUnknown, PermanentError, TransientError
from state.orders import InstallChart
from state.reasons import Code
from tests.sandbox.kubernetes_scene import Scene, scene, tool

SECRETS = ("", "secrets")


@dataclass(frozen=True, slots=True)
class Place:
    """A cluster, a chart repository with its faults, and the adapter."""

    cluster: Scene
    faults: Faults
    order: InstallChart
    helm: HelmCli

    @property
    def kubeconfig(self) -> bytes:
        return self.cluster.config.read_bytes()

    def releases(self) -> list[str]:
        found = self.cluster.server.cluster.store
        return sorted(
            record.obj["metadata"]["labels"]["status"]
            for _, record in found.items(SECRETS)
            if record.obj["metadata"].get("labels", {}).get("owner") == "helm"
        )


@asynccontextmanager
async def place(seconds: float = 120.0) -> AsyncIterator[Place]:
    faults = Faults()
    async with scene() as cluster:
        served = await serve(HelmRepository(faults).app())
        order = InstallChart("gpu-operator", "gpu-operator", "gpu-operator", "26.7.0", served.url)
        try:
            yield Place(cluster, faults, order, HelmCli(tool("helm"), seconds))
        finally:
            await served.aclose()


async def test_given_a_bare_cluster_when_installed_twice_then_the_second_meets_the_first() -> None:
    async with place() as here:
        await here.helm.install(here.order, here.kubeconfig)
        with pytest.raises(TransientError) as caught:
            await here.helm.install(here.order, here.kubeconfig)

        assert "still in use" in caught.value.reason.text("detail")
        assert here.releases() == ["deployed"]


async def test_given_an_operator_of_another_release_when_installed_then_its_object_is_named() -> None:
    async with place() as here:
        await here.helm.install(here.order, here.kubeconfig)
        with pytest.raises(PermanentError) as caught:
            await here.helm.install(replace(here.order, release="second", namespace="other"), here.kubeconfig)

        assert caught.value.reason.code is Code.FOREIGN_OPERATOR
        assert "gpu-operator" in caught.value.reason.text("what")
        assert here.releases() == ["deployed"]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [({"status": 503}, TransientError), ({"drop": True}, TransientError), ({"status": 404}, PermanentError)],
    ids=["503", "dropped", "404"],
)
async def test_given_a_failing_repository_when_installed_then_nothing_was_recorded(
    fault: dict[str, object], kind: type[Exception]
) -> None:
    async with place() as here:
        here.faults.add(system="helm", times=-1, **fault)
        with pytest.raises(kind):
            await here.helm.install(here.order, here.kubeconfig)

        assert here.releases() == []


async def test_given_a_version_nobody_has_when_installed_then_it_is_refused() -> None:
    async with place() as here:
        with pytest.raises(PermanentError) as caught:
            await here.helm.install(replace(here.order, version="99.9.9"), here.kubeconfig)

        assert "99.9.9" in caught.value.reason.text("detail")


async def test_given_an_expired_token_when_installed_then_access_is_to_be_renewed() -> None:
    async with place() as here:
        config = json.loads(here.kubeconfig)
        config["users"][0]["user"]["token"] = "expired"
        with pytest.raises(TransientError) as caught:
            await here.helm.install(here.order, json.dumps(config).encode())

        assert caught.value.reason.code is Code.API_LOGIN


async def test_given_no_api_server_when_installed_then_it_may_pass() -> None:
    async with place() as here:
        config = here.kubeconfig.replace(here.cluster.url.encode(), b"https://127.0.0.1:9")
        with pytest.raises(TransientError) as caught:
            await here.helm.install(here.order, config)

        assert caught.value.reason.code is Code.API_UNREACHABLE


async def test_given_too_little_time_when_installed_then_nobody_knows() -> None:
    async with place(seconds=0.05) as here:
        with pytest.raises(OutcomeUnknown):
            await here.helm.install(here.order, here.kubeconfig)
