"""What a run waits for, in English."""

from state.reasons import Code

WAITS = {
    Code.WAIT_LABELS: "Waiting until the opt-out labels can be read back from {nodes}.",
    Code.WAIT_OPERATOR_PODS: "Waiting for the operator's own pods: {pods}.",
    Code.WAIT_RELEASE: "Waiting for Helm release {release}[ (now {status})].",
    Code.WAIT_NODE_CLEAN: "Waiting until {what} is gone from opted-out node {node}.",
    Code.WAIT_MASTER: "The control plane is being updated[, now at {version}][ ({status})]. This takes a while; "
    "GPU workloads keep running.",
    Code.WAIT_API_VERSION: "IKS says {iks}, the API server still answers {api}. Waiting until they agree.",
    Code.WAIT_POOL_WORKERS: "Pool {pool} has {have} of {want} workers. Waiting for the rest.",
    Code.WAIT_WORKER: "Worker {worker} is {state}[: {message}]. Waiting until it is deployed and normal.",
    Code.WAIT_OLD_WORKER_GONE: "Old worker {worker} is being removed[ (now {state})].",
    Code.WAIT_SUCCESSOR: "Waiting for the successor of {worker} to appear in pool {pool}.",
    Code.WAIT_NODE_READY: "Worker {worker} is up; waiting for its node[ {node}] to be Ready.",
    Code.WAIT_GPUS: "Node {node}: {stage:stage}[, label {labels}][, taint {taints}][, pod {pod}][, container {container}]"
    "[, {state}][: {message}][, {restarts} restarts][: {have} of {want} {resource}]. Waiting for its GPUs.",
    Code.WAIT_STABLE: "Node {node} has its GPUs[; it has to stay healthy for another {seconds:seconds}].",
    Code.WAIT_PODS_GONE: "Node {node} is being emptied, {pods:n} still there: {pods}.",
    Code.WAIT_CORDON: "Waiting until node {node} takes no new pods.",
    Code.WAIT_WORKLOADS: "Waiting for workloads to run again: {workloads}.",
    Code.WAIT_POOL_GONE: "Temporary pool {pool} is being removed[; still there: {workers}].",
    Code.WAIT_OTHER_STEP: "Waiting for another step: {step:step}.",
    Code.WAIT_SETTLE: "The answer was lost: {order:order}. It is not repeated; the bot looks whether it took effect.",
    Code.WAIT_APPROVAL: "Waiting for somebody to answer the question[: {step:step}]. Nothing happens until then.",
    Code.EVICTION_BLOCKED: "Cannot be evicted now: {pods}[, disruption budget {budget}][ allows {allowed}]. Tried "
    "again by itself; another replica or a wider budget would help.",
    Code.EVICTION_THROTTLED: "The API server asked to slow down with {pod}[; next try in {seconds:seconds}].",
    Code.EVICTION_MISCONFIGURED: "Pod {pod} is guarded by two disruption budgets, so the API evicts it never. "
    "Remove one of the budgets.",
    Code.UNDO_WAITS: "What this run has set is given back once the brake is lifted[: {nodes}].",
    Code.BRAKE: "All runs of this installation are stopped[ by {by:user}][: {detail}]. "
    "Nothing is ordered meanwhile; `/gpu-migrate resume-all` lets them go on.",
    Code.PAUSED: "Paused[ by {by:user}]. Go on with `/gpu-migrate resume {here}`.",
}
