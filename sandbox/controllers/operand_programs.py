"""What the programs inside operand pods do through the API: driver-manager's label and the validator's CUDA pod.

Pods' statuses are the kubelet's affair; GFD's labels go by way of NFD.
"""

from sandbox.controllers import pods
from sandbox.controllers.desk import Desk
from sandbox.controllers.nodes import has_host_driver
from sandbox.controllers.operands import MAIN_VALIDATOR, cuda_validator
from sandbox.controllers.resources import CLUSTER_POLICIES, NODES, PODS
from sandbox.controllers.scripts import CUDA_APP, is_driver
from sandbox.kubernetes_client import Json

DRIVER_LABEL = "nvidia.com/gpu.deploy.driver"
CUDA_STEP = "cuda-validation"


class OperandPrograms:
    """Watches operand pods and acts for the programs in them."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._nodes = desk.mirror(NODES)
        self._pods = desk.mirror(PODS)
        self._policies = desk.mirror(CLUSTER_POLICIES)

    async def reconcile(self) -> float | None:
        """Do what each running program would do."""
        everything = self._pods.objects()
        for pod in everything:
            labels = pod["metadata"].get("labels") or {}
            if not pods.active(pod) or not pods.node_name(pod):
                continue
            if is_driver(pod):
                await self._find_host_driver(pod)
            if labels.get("app") == MAIN_VALIDATOR and running_init(pod) == CUDA_STEP:
                await self._try_cuda(pod, everything)
        return None

    async def _find_host_driver(self, pod: Json) -> None:
        node = self._nodes.get(pods.node_name(pod))
        if node is None or not has_host_driver(node) or running_init(pod) != "k8s-driver-manager":
            return
        if (node["metadata"].get("labels") or {}).get(DRIVER_LABEL) == "true":
            await self._desk.patch(NODES, node, {"metadata": {"labels": {DRIVER_LABEL: "pre-installed"}}})

    async def _try_cuda(self, validator: Json, everything: tuple[Json, ...]) -> None:
        """Start the CUDA pod of the node unless this validator has one; an older one is removed first."""
        policy = next(iter(self._policies.objects()), None)
        if policy is None:
            return
        mine = False
        for pod in everything:
            app = (pod["metadata"].get("labels") or {}).get("app")
            if app == CUDA_APP and pods.node_name(pod) == pods.node_name(validator):
                if _started(pod) >= _started(validator):
                    mine = True
                elif not pods.deleting(pod):
                    await self._desk.delete(PODS, pod, grace=0)
        if not mine:
            await self._desk.create(PODS, cuda_validator(validator, policy))


def running_init(pod: Json) -> str:
    """The name of the init container that runs now; "" when none does."""
    rows = (pod.get("status") or {}).get("initContainerStatuses") or ()
    return next((str(row["name"]) for row in rows if "running" in (row.get("state") or {})), "")


def _started(pod: Json) -> str:
    return str(pod["metadata"].get("creationTimestamp", ""))
