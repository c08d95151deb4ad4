"""Which pods will keep a worker's card without its button later: better said in the plan than in the night."""

from state.gpu_workers import old_gpu_nodes
from state.placing import losses, movable
from state.policy import Policy
from state.reasons import Reason
from state.snapshot import Snapshot


def needed(snapshot: Snapshot, policy: Policy) -> tuple[Reason, ...]:
    """Bare pods, emptyDir data, running Jobs and local volumes on workers that have to go."""
    nodes = old_gpu_nodes(snapshot, policy.target_minor)
    pods = [pod for node in nodes for pod in movable(snapshot, node)]
    operators = frozenset({policy.chart.namespace, *(r.namespace for r in snapshot.kubernetes.releases)})
    return losses(pods, operators).reasons()
