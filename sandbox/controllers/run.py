"""Starts the parts of a pretend cluster, each in its own task, and starts a part again that has crashed.

Parts of one user share that user's connection and copies, as the controllers of kube-controller-manager do.
"""

import asyncio
import traceback
from collections.abc import Callable, Iterable
from ssl import SSLContext

from sandbox.controllers.accounts import Accounts
from sandbox.controllers.afflictions import Afflictions
from sandbox.controllers.daemonsets import DaemonSets
from sandbox.controllers.deployments import Deployments
from sandbox.controllers.desk import Desk, Part, report
from sandbox.controllers.disruption import Disruption
from sandbox.controllers.gpu_operator import GpuOperator
from sandbox.controllers.jobs import Jobs
from sandbox.controllers.kubelet import Kubelet
from sandbox.controllers.nfd import Nfd
from sandbox.controllers.node_lifecycle import NodeLifecycle
from sandbox.controllers.operand_programs import OperandPrograms
from sandbox.controllers.pod_gc import PodGC
from sandbox.controllers.replicasets import ReplicaSets
from sandbox.controllers.scheduler import Scheduler
from sandbox.controllers.silence import Silence
from sandbox.controllers.statefulsets import StatefulSets
from sandbox.kubernetes_client import NO_ANSWER, Api, ApiError, Mirror
from sandbox.scenario import Scenario

IssueToken = Callable[[str, tuple[str, ...]], str]

_TEAMS: dict[str, dict[str, type[Part]]] = {
    "system:kube-scheduler": {"scheduler": Scheduler},
    "system:kubelet": {"kubelet": Kubelet, "silence": Silence},
    "system:controller": {
        "node_lifecycle": NodeLifecycle,
        "deployments": Deployments,
        "replicasets": ReplicaSets,
        "daemonsets": DaemonSets,
        "statefulsets": StatefulSets,
        "jobs": Jobs,
        "disruption": Disruption,
        "pod_gc": PodGC,
        "accounts": Accounts,
    },
    "node-feature-discovery": {"nfd": Nfd},
    "gpu-operator": {"gpu_operator": GpuOperator, "operand_programs": OperandPrograms},
}
ALL = frozenset(name for team in _TEAMS.values() for name in team)
ON_REAL_CONTROL_PLANE = frozenset({"kubelet", "silence", "nfd", "gpu_operator", "operand_programs"})
GROUPS = ("system:masters",)

CALM_DOWN = 0.03  # seconds that changes may pile up before a part looks
BREATH = 0.02  # least pause between two looks
FIRST_PAUSE, LONGEST_PAUSE = 0.3, 5.0
LONGEST_WAIT = 30.0  # what failed is tried again, though nothing changed


async def run_controllers(  # noqa: PLR0913, PLR0917 - the composition root of a cluster's inside
    url: str,
    issue_token: IssueToken,
    scenario: Scenario,
    parts: Iterable[str] = ALL,
    afflictions: Afflictions | None = None,
    ssl: SSLContext | None = None,
) -> None:
    """Run the named parts against the API server at `url` until cancelled.

    Args:
        url: base URL of the API server, without a slash at its end.
        issue_token: makes a token for a user name and its groups.
        scenario: durations and speed.
        parts: names out of ALL.
        afflictions: misfortunes in force, changed from outside while this runs.
        ssl: for https URLs with a certificate authority of their own.

    Raises ValueError for an unknown part.
    """
    wanted = frozenset(parts)
    if unknown := wanted - ALL:
        raise ValueError(f"unknown parts: {', '.join(sorted(unknown))}; known: {', '.join(sorted(ALL))}")
    misfortunes = Afflictions() if afflictions is None else afflictions
    async with asyncio.TaskGroup() as group:
        for user, team in _TEAMS.items():
            chosen = {name: part for name, part in team.items() if name in wanted}
            if chosen:
                one = _Team(user, chosen, scenario, misfortunes)
                group.create_task(one.run(url, issue_token, ssl), name=user)


class _Team:
    """The parts of one user."""

    def __init__(self, user: str, parts: dict[str, type[Part]], scenario: Scenario, afflictions: Afflictions) -> None:
        self._user = user
        self._parts = parts
        self._scenario = scenario
        self._afflictions = afflictions

    async def run(self, url: str, issue_token: IssueToken, ssl: SSLContext | None) -> None:
        """Work with a fresh token; take a new one when it is refused."""
        while True:
            api = Api(url, issue_token(self._user, GROUPS), ssl, agent=f"sandbox/{self._user}")
            try:
                await self._work(api)
            except* Exception as failed:  # noqa: BLE001 - the top of a task: it reports and starts again
                report(f"{self._user}: {failed.exceptions[0]!r}; starting again with a new token")
            finally:
                await api.aclose()
            await asyncio.sleep(1.0)

    async def _work(self, api: Api) -> None:
        mirrors: dict[str, Mirror] = {}
        desks = {name: Desk(api, self._scenario, self._afflictions, mirrors) for name in self._parts}
        built = {name: part(desks[name]) for name, part in self._parts.items()}
        try:
            async with asyncio.TaskGroup() as group:
                for mirror in mirrors.values():
                    group.create_task(mirror.run())
                for name, part in built.items():
                    self._afflictions.wakes(desks[name].wake)
                    group.create_task(self._keep(name, part, desks[name]), name=name)
        finally:
            for desk in desks.values():
                self._afflictions.unhook(desk.wake)

    async def _keep(self, name: str, part: Part, desk: Desk) -> None:
        """Let one part reconcile for ever; a part that crashes is built anew after a pause.

        Raises ApiError 401 only.
        """
        for mirror in desk.used:
            await mirror.synced.wait()
        pause, wait = FIRST_PAUSE, 0.0
        while True:
            await _slept(desk.wake, wait)
            desk.wake.clear()
            try:
                again = await part.reconcile()
                wait, pause = LONGEST_WAIT if again is None else max(BREATH, again), FIRST_PAUSE
            except ApiError as refused:
                if refused.status == 401:
                    raise
                if refused.status != NO_ANSWER:
                    report(f"{name}: {refused}")
                wait = pause
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
            except Exception:  # noqa: BLE001 - the top of a task: it reports and starts again
                report(f"{name} crashed:\n{traceback.format_exc()}")
                await asyncio.sleep(pause)
                pause, wait = min(pause * 2, LONGEST_PAUSE), 0.0
                part = self._parts[name](desk)


async def _slept(wake: asyncio.Event, seconds: float) -> None:
    """Wait for a change, or for the time that the part has asked for; changes may pile up a little."""
    try:
        async with asyncio.timeout(seconds):
            await wake.wait()
        await asyncio.sleep(CALM_DOWN)
    except TimeoutError:
        return
