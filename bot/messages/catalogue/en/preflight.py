"""What forbids a migration or warns of something, in English."""

from state.reasons import Code

PREFLIGHT = {
    Code.NOT_IKS: "This is no IBM Cloud Kubernetes Service cluster but {offering}. This procedure is for IKS only: "
    "nothing will be done.",
    Code.NOT_VPC: "This cluster runs on {provider}. Only VPC clusters can be migrated: nothing will be done.",
    Code.WRONG_MINOR: "The control plane runs {version}; the migration begins at {wanted}. "
    "Update the cluster to {wanted} first.",
    Code.WORKER_TOO_OLD: "GPU worker {worker} runs {version}, too old for the step to the target. "
    "Replace it at the control plane's version first.",
    Code.MASTER_BUSY: "The control plane is busy[ (state {state})][, status {status}][, health {health}]. "
    "It has to be deployed and normal before anything begins.",
    Code.MASTER_BLOCKED: "IBM does not let the control plane be updated[ (state {state})][: {status}]. "
    "Clear that first, if need be with IBM support.",
    Code.NO_GPU_WORKERS: "The cluster has no GPU workers: there is nothing to migrate.",
    Code.NO_TARGET_YET: "IKS offers no {minor} yet. "
    "Labels and operator can be prepared now: `/gpu-migrate prepare {here}`.",
    Code.AUTOSCALER: "The cluster autoscaler[ (add-on {addon} {version}, made for {range})] is at work[ on {pools}] "
    "and would resize pools in the middle. Switch it off for the GPU pools.",
    Code.ADDON_RANGE: "Add-on {addon} {version} supports {range} only. Update it before the control plane.",
    Code.REBALANCE_OFF: "Pool {pool} is not balanced automatically: a replaced worker would only be deleted. "
    "Switch automatic balancing on.",
    Code.POOL_SHORT: "Pool {pool} has {have} of {want} workers. Wait until it is complete, or resize it.",
    Code.POOL_LABELS: "Pool {pool} gives {labels} to every new worker, so no driver would ever be installed there. "
    "Take these labels off the pool (not off the nodes).",
    Code.MIXED_OS: "The GPU workers run different operating systems: {systems}. Bring them to one first.",
    Code.TAINT_NOT_TOLERATED: "Node {node} has the taint {taint}, which the operator's pods[ ({by})] do not tolerate. "
    "Add a toleration to the chart values of this cluster.",
    Code.UPGRADE_FAILED: "Node {node} carries {label}: NVIDIA's driver manager gave up on it. "
    "Find out why and clear the label before the worker is touched.",
    Code.FOREIGN_OPERATOR: "Something else already manages GPUs here: {what}. "
    "Two of them would fight: remove it first.",
    Code.RELEASE_ELSEWHERE: "A GPU Operator is already installed: release {release} in {namespace}, version {version}. "
    "It is used as it is; nothing is installed beside it.",
    Code.RELEASE_STUCK: "Release {release}[ in {namespace}] has been in {status}[ for {minutes:minutes}]. Somebody's "
    "helm was interrupted: roll it back or uninstall it.",
    Code.RELEASE_FAILED: "Release {release}[ in {namespace}][ (version {version})] has failed. "
    "Repair or uninstall it first.",
    Code.RELEASES_MANY: "There is more than one GPU Operator: {releases}. Keep one and uninstall the others.",
    Code.CHART_UNTESTED: "GPU Operator {version} is outside the tested range {low} to {high}. "
    "It may work; nobody tried.",
    Code.OPERATOR_LABELLED_NODE_DIRTY: "Node {node} is opted out of the operator and still has {what}. "
    "That fights with IBM's driver: look at it before going on.",
    Code.MISSING_RIGHTS: "The bot lacks rights in this cluster: {rights}. Give it the Manager role.",
    Code.NODE_WORKER_MISMATCH: "Worker {worker} and node {node} do not belong together. "
    "Nothing is done to a machine that cannot be named for sure.",
    Code.GPU_LABEL_WITHOUT_GPU: "Worker {worker} is labelled as a GPU machine, but its flavor {flavor} has no GPU. "
    "It is left alone.",
    Code.NOT_NVIDIA: "Worker {worker} (flavor {flavor}) has GPUs of another maker. It is left alone.",
    Code.ALREADY_CORDONED: "Node {node} is already cordoned[ by {by:user}]. It will not be opened again by this run.",
    Code.WORKER_UNHEALTHY: "Worker {worker} is not healthy[: {state}][ / {health}][, {message}]. Repair it first.",
    Code.PDB_BLOCKS: "Pod {pod} is guarded by the disruption budget {budget}, which allows {allowed} disruptions. "
    "Add a replica or relax the budget, or the worker cannot be emptied.",
    Code.SINGLE_REPLICA: "{workload} has one replica: it is away from the eviction until it runs elsewhere.",
    Code.ALREADY_MIGRATED: "Every GPU worker already runs the target version with a working driver: there is nothing to do.",
    Code.HALF_DONE: "Somebody began this migration before.[ Control plane: {master}.][ Workers on the target: {workers}.]"
    "[ Temporary pools: {pools}.][ Nodes with opt-out labels: {nodes}.][ Mark of run {mark}.] "
    "The plan goes on from there and repeats nothing.",
    Code.OTHER_RUN_IN_CLUSTER: "The cluster carries the mark of another run: {run}[ of installation {instance}]. "
    "Two bots must not work on one cluster: end the other run first.",
    Code.MODE_OBSERVE: "This cluster is in mode *observe*: the bot looks and plans, and changes nothing. "
    "Change its `mode` in the configuration to let it work.",
    Code.BARE_PODS: "Nothing makes these pods anew once they are evicted: {pods}. "
    "Move or delete them yourself, then look again.",
    Code.EMPTY_DIR: "These pods keep data in an emptyDir that is lost when they move: {pods}. "
    "Save it or end them, then look again.",
    Code.JOBS_RUNNING: "These Jobs are in the middle of their work and would start over: {pods}. "
    "Let them finish, then look again.",
    Code.HOST_LOCAL: "These pods use storage of this very machine, which is deleted: {pods}. "
    "Move the data, then look again.",
}
