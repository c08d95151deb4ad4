"""Raw Pod → Pod, with the few facts beside it that only other projections need.

Thousands are held per cluster, so equal parts are shared and texts for humans are cut. The owner named here is the
direct one; who owns that one is found in `owners`.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from bot.adapters.kubernetes.fields import (
    EPOCH,
    Json,
    condition,
    count,
    flag,
    message,
    moment,
    rows,
    strings,
    table,
    text,
)
from bot.adapters.kubernetes.gpus import GpuNames
from state.snapshot import Container, Owner, Pod

MIRROR = "kubernetes.io/config.mirror"
COMPONENT = "app.kubernetes.io/component"
USUAL_GRACE = 30
STATES = ("running", "terminated", "waiting")
NO_STATE = ("", "", "", None)


@dataclass(frozen=True, slots=True)
class SeenPod:
    """A pod with what budgets (labels) and local volumes (claims) are matched by."""

    pod: Pod
    labels: Mapping[str, str]
    claims: tuple[str, ...] = ()


def project_pod(raw: Json, names: GpuNames) -> SeenPod:
    metadata, spec, status = table(raw, "metadata"), table(raw, "spec"), table(raw, "status")
    labels = _labels(metadata)
    scheduled = condition(status, "PodScheduled")
    waits = scheduled.get("status") == "False"
    volumes = rows(spec, "volumes")
    namespace = sys.intern(text(metadata, "namespace"))
    pod = Pod(
        namespace=namespace,
        name=text(metadata, "name"),
        uid=text(metadata, "uid"),
        node_name=sys.intern(text(spec, "nodeName")),
        phase=sys.intern(text(status, "phase")),
        ready=condition(status, "Ready").get("status") == "True",
        created_at=moment(metadata, "creationTimestamp") or EPOCH,
        owner=owner_of(metadata),
        gpus=names.asked(spec),
        app=labels.get("app", ""),
        component=labels.get(COMPONENT, ""),
        part=labels.get("role", ""),
        deleting_since=_deleting_since(metadata),
        reason=message(status, "reason"),
        message=message(status, "message"),
        scheduled_reason=message(scheduled, "reason") if waits else "",
        scheduled_message=message(scheduled, "message") if waits else "",
        containers=_containers(rows(spec, "containers"), rows(status, "containerStatuses")),
        init_containers=_containers(rows(spec, "initContainers"), rows(status, "initContainerStatuses")),
        mirror=MIRROR in table(metadata, "annotations"),
        empty_dir=tuple(text(row, "name") for row in volumes if _loses_data(row)),
        host_local=tuple(text(row, "name") for row in volumes if isinstance(row.get("hostPath"), dict)),
        grace_seconds=count(spec, "terminationGracePeriodSeconds", USUAL_GRACE),
        selector=_shared_labels(tuple(strings(spec, "nodeSelector").items())),
        tolerations=_tolerations(spec),
    )
    return SeenPod(pod, labels, tuple(filter(None, (_claim(row, pod.name) for row in volumes))))


def owner_of(metadata: Json) -> Owner | None:
    """Name the controller; owners that do not control will not make the object anew."""
    for row in rows(metadata, "ownerReferences"):
        if flag(row, "controller"):
            return _owner(text(row, "kind"), text(metadata, "namespace"), text(row, "name"), text(row, "uid"))
    return None


@lru_cache(maxsize=8192)
def _owner(kind: str, namespace: str, name: str, uid: str) -> Owner:
    return Owner(kind, namespace, name, uid)


def _deleting_since(metadata: Json) -> datetime | None:
    """When deletion was asked for: the timestamp in the object is when its grace period ends."""
    ends = moment(metadata, "deletionTimestamp")
    return None if ends is None else ends - timedelta(seconds=max(0, count(metadata, "deletionGracePeriodSeconds")))


def _loses_data(volume: Json) -> bool:
    empty = volume.get("emptyDir")
    return isinstance(empty, dict) and empty.get("medium") != "Memory"


def _claim(volume: Json, pod: str) -> str:
    """Name the claim of a volume; a generic ephemeral volume's claim is named after pod and volume."""
    if isinstance(volume.get("ephemeral"), dict):
        return f"{pod}-{text(volume, 'name')}"
    return text(table(volume, "persistentVolumeClaim"), "claimName")


def _containers(specs: list[Json], statuses: list[Json]) -> tuple[Container, ...]:
    """Join by name in the order of the spec; a container nobody reported on has no state."""
    if len(specs) == len(statuses) == 1 and (name := text(specs[0], "name")) == text(statuses[0], "name"):
        return (_container(name, statuses[0]),)
    told = {text(row, "name"): row for row in statuses}
    order = [*(text(row, "name") for row in specs), *told]
    return tuple(_container(name, told.get(name, {})) for name in dict.fromkeys(order))


def _container(name: str, status: Json) -> Container:
    states = table(status, "state")
    for state in STATES:
        detail = states.get(state)
        if isinstance(detail, dict):
            exit_code = detail.get("exitCode")
            ended = exit_code if isinstance(exit_code, int) else None
            told = (state, message(detail, "reason"), message(detail, "message"), ended)
            break
    else:
        told = NO_STATE
    return _shared_container(name, flag(status, "ready"), count(status, "restartCount"), told)


@lru_cache(maxsize=4096)
def _shared_container(name: str, ready: bool, restarts: int, told: tuple[str, str, str, int | None]) -> Container:
    state, why, words, exit_code = told
    return Container(name, ready, restarts, state, why, words, exit_code)


def _labels(metadata: Json) -> Mapping[str, str]:
    return _shared_labels(tuple(strings(metadata, "labels").items()))


@lru_cache(maxsize=8192)
def _shared_labels(pairs: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    return dict(pairs)


def _tolerations(spec: Json) -> tuple[tuple[str, str, str, str], ...]:
    found = rows(spec, "tolerations")
    return _shared_tolerations(
        tuple(
            (text(row, "key"), text(row, "operator") or "Equal", text(row, "value"), text(row, "effect"))
            for row in found
        )
    )


@lru_cache(maxsize=4096)
def _shared_tolerations(found: tuple[tuple[str, str, str, str], ...]) -> tuple[tuple[str, str, str, str], ...]:
    return found
