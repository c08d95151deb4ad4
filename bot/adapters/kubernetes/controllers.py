"""Raw Deployment, ReplicaSet, StatefulSet, DaemonSet, Job → Controller: who owns it, what it wants, what it has.

Numbers are those of the object's own status. What they mean for a migration is decided elsewhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.adapters.kubernetes.fields import Json, count, holds, table, text
from bot.adapters.kubernetes.gpus import GpuNames
from bot.adapters.kubernetes.pods import owner_of
from state.snapshot import DaemonSet, Owner


@dataclass(frozen=True, slots=True)
class Controller:
    """An object that makes pods.

    Attributes:
        controller: who makes this one, None when a human or a pipeline did.
        gpus: what each of its pods asks for, by its template.
        finished: a Job that ended, either way.
    """

    owner: Owner
    controller: Owner | None
    desired: int
    available: int
    gpus: Mapping[str, int]
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Numbers:
    desired: int
    available: int
    finished: bool = False


PATHS = {
    "Deployment": "/apis/apps/v1/deployments",
    "ReplicaSet": "/apis/apps/v1/replicasets",
    "StatefulSet": "/apis/apps/v1/statefulsets",
    "DaemonSet": "/apis/apps/v1/daemonsets",
    "Job": "/apis/batch/v1/jobs",
}


def project_controller(kind: str, raw: Json, names: GpuNames) -> Controller:
    metadata, spec = table(raw, "metadata"), table(raw, "spec")
    numbers = NUMBERS[kind](spec, table(raw, "status"))
    return Controller(
        owner=Owner(kind, text(metadata, "namespace"), text(metadata, "name"), text(metadata, "uid")),
        controller=owner_of(metadata),
        desired=numbers.desired,
        available=numbers.available,
        gpus=names.asked(table(table(spec, "template"), "spec")),
        finished=numbers.finished,
    )


def project_daemon_set(raw: Json) -> DaemonSet:
    metadata, status = table(raw, "metadata"), table(raw, "status")
    template = table(table(table(raw, "spec"), "template"), "metadata")
    return DaemonSet(
        namespace=text(metadata, "namespace"),
        name=text(metadata, "name"),
        app=text(table(metadata, "labels"), "app") or text(table(template, "labels"), "app"),
        desired=count(status, "desiredNumberScheduled"),
        ready=count(status, "numberReady"),
    )


def _replicas(spec: Json, status: Json) -> Numbers:
    return Numbers(count(spec, "replicas", 1), count(status, "availableReplicas"))


def _stateful(spec: Json, status: Json) -> Numbers:
    return Numbers(count(spec, "replicas", 1), count(status, "availableReplicas", count(status, "readyReplicas")))


def _daemon(_spec: Json, status: Json) -> Numbers:
    return Numbers(
        count(status, "desiredNumberScheduled"), count(status, "numberAvailable", count(status, "numberReady"))
    )


def _job(spec: Json, status: Json) -> Numbers:
    """Count completions.

    A Job at full work counts as fully available: what has succeeded and what runs and is ready, against what it can
    have running or done at this point. Without `completions` one success ends it.
    """
    parallel = count(spec, "parallelism", 1)
    completions = count(spec, "completions", max(1, parallel))
    succeeded = count(status, "succeeded")
    finished = any(holds(status, kind) for kind in ("Complete", "Failed"))
    if holds(status, "Complete"):
        return Numbers(completions, completions, finished)
    working = 0 if spec.get("suspend") is True else parallel
    return Numbers(min(completions, succeeded + working), succeeded + count(status, "ready"), finished)


NUMBERS: Mapping[str, Callable[[Json, Json], Numbers]] = {
    "Deployment": _replicas,
    "ReplicaSet": _replicas,
    "StatefulSet": _stateful,
    "DaemonSet": _daemon,
    "Job": _job,
}
