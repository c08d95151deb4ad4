"""Who a pod belongs to in the end, and how each owner of GPU pods fares.

ReplicaSets and Jobs are steps on the way: what controls them is the owner (Deployment, CronJob, Argo's Rollout, a
JobSet …), and when that one is of a kind we do not read, its numbers are the sums of the steps. An owner of a wholly
unknown kind (RayCluster, PyTorchJob …) is counted by its pods.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from bot.adapters.kubernetes.controllers import Controller
from state.snapshot import Owner, Pod, Workload

STEPS = ("ReplicaSet", "Job")


class Owners:
    """The controllers of a cluster at one moment."""

    def __init__(self, controllers: Iterable[Controller]) -> None:
        self._controllers = tuple(controllers)
        self._by_place: Mapping[tuple[str, str, str], Controller] = {
            _place(controller.owner): controller for controller in self._controllers
        }

    def knows(self, owner: Owner) -> bool:
        """Whether this very object (by uid) was listed."""
        return self._find(owner) is not None

    def resolve(self, owner: Owner | None) -> Owner | None:
        """Go up from the direct owner to the last one that matters."""
        if owner is None or owner.kind not in STEPS:
            return owner
        found = self._find(owner)
        if found is None or found.controller is None:
            return owner
        above = self._find(found.controller)
        return found.controller if above is None else above.owner

    def workloads(self, pods: Iterable[Pod]) -> tuple[Workload, ...]:
        """List all owners of GPU pods, those that have no pod at the moment included. `pods` have resolved owners.

        GPUs can be in the pods alone, when an admission webhook adds them: then too an owner speaks for itself if it is
        read at all.
        """
        found: dict[tuple[str, str, str], Workload] = {}
        for controller in self._controllers:
            if controller.gpus and not self._counted_above(controller):
                _add(found, self.resolve(controller.owner) or controller.owner, controller)
        known = set(found)
        for pod in pods:
            if not pod.gpus or pod.owner is None or _place(pod.owner) in known:
                continue
            if (speaks := self._find(pod.owner)) is not None:
                known.add(_place(pod.owner))
                _add(found, pod.owner, replace(speaks, gpus=pod.gpus))
            else:
                _count(found, pod.owner, pod)
        return tuple(found[place] for place in sorted(found))

    def _find(self, owner: Owner) -> Controller | None:
        found = self._by_place.get(_place(owner))
        return found if found is not None and (not owner.uid or found.owner.uid in ("", owner.uid)) else None

    def _counted_above(self, controller: Controller) -> bool:
        """Whether something that we read counts for it already, such as the Deployment of a ReplicaSet."""
        above = controller.controller
        return controller.owner.kind in STEPS and above is not None and self._find(above) is not None


def _place(owner: Owner) -> tuple[str, str, str]:
    return (owner.kind, owner.namespace, owner.name)


def _add(found: dict[tuple[str, str, str], Workload], owner: Owner, part: Controller) -> None:
    """Sum the steps of one owner; ended ones count only while there is nothing else."""
    before = found.get(_place(owner))
    now = Workload(owner, part.desired, part.available, part.gpus, part.finished)
    if before is None or (before.finished and not now.finished):
        found[_place(owner)] = now
    elif not now.finished:
        found[_place(owner)] = replace(
            before, desired=before.desired + now.desired, available=before.available + now.available
        )


def _count(found: dict[tuple[str, str, str], Workload], owner: Owner, pod: Pod) -> None:
    before = found.get(_place(owner)) or Workload(owner, 0, 0, pod.gpus, finished=True)
    alive = not pod.finished
    found[_place(owner)] = replace(
        before,
        desired=before.desired + alive,
        available=before.available + (alive and pod.ready and pod.deleting_since is None),
        finished=before.finished and not alive,
    )
