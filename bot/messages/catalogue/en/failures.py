"""What went wrong with a run, in English."""

from state.reasons import Code

FAILURES = {
    Code.DEADLINE: "{step:step} took longer than {seconds:seconds}. The bot keeps looking and orders nothing new; "
    "`/gpu-migrate retry {here}` gives it time again.",
    Code.ADMISSION_REFUSED: "Node {node} turned {count} GPU pods away although it has free GPUs: the kubelet's bookkeeping "
    "of devices is off there. Restart the worker, delete the failed pods, then `/gpu-migrate retry {here}`.",
    Code.PROVISION_FAILED: "IKS could not provide worker {worker}[: {message}]. Nothing is ordered twice: "
    "clear the cause, then `/gpu-migrate retry {here}`.",
    Code.STRANGER: "Workers appeared that this run did not order: {workers}. It stopped, since they cannot be told "
    "from its own. Find out whose they are, then `/gpu-migrate retry {here}`.",
    Code.POSSIBLE_DOUBLE: "Worker {worker} seems to have more than one successor: {workers}. It stopped; "
    "remove the one too many, then `/gpu-migrate retry {here}`.",
    Code.RUNS_FAILED: "Steps failed within a short time in several clusters: {clusters}. That has one cause more often than "
    "not, so the bot stopped everything by itself.",
    Code.NOT_STARTED: "Asked for {attempts} times and not begun: {order:order}. IKS accepted nothing: "
    "look at the cluster in IBM Cloud, then `/gpu-migrate retry {here}`.",
    Code.ORDER_REFUSED: "Refused: {order:order}[ with status {status}][, {code}][: {message}][ (incident {incident})]. "
    "Nothing happened. Clear the cause, then `/gpu-migrate retry {here}`.",
    Code.CORDON_LIFTED: "Somebody opened node {node} again[ ({by:user})] after it was cordoned. "
    "The bot asks again before going on.",
    Code.NEW_PODS: "New pods came to node {node} after the approval: {pods}. The bot asks again before going on.",
    Code.HANDED_OVER: "Not sent: this process was ending. Whoever keeps the run now looks and decides anew.",
    Code.FACTS_CHANGED: "The cluster changed since the question was asked[: {step:step}]. Nothing was done; "
    "a new card shows what is true now.",
    Code.MASTER_NOT_THERE: "The control plane runs {version}, not {target}. No worker is replaced before it does.",
    Code.LAST_GPU_WORKER: "{worker} is the last GPU worker: nothing else could take its workloads. It is left alone "
    "until another one is ready.",
    Code.OLD_NODE_UNLABELLED: "Old GPU node {node} has no opt-out labels while the operator is installed: operands may "
    "start over IBM's driver. The bot labels it.",
    Code.OPERAND_ON_OLD_NODE: "Operand {pod} runs on old node {node}, over IBM's driver. GPU workloads there are at "
    "risk: look at it now.",
    Code.SUCCESSOR_OPTED_OUT: "New node {node} carries {labels} and will get no driver. "
    "Take the labels off the node and off its pool.",
    Code.SUCCESSOR_WRONG_MINOR: "New worker {worker} runs {version}, not the target version. It stopped; "
    "replace that worker, then `/gpu-migrate retry {here}`.",
    Code.REJECTED: "Rejected[ by {by:user}][: {step:step}]. Nothing was done. "
    "`/gpu-migrate retry {here}` asks again, `/gpu-migrate abort {here}` ends the run.",
    Code.PODS_WOULD_NOT_FIT: "No room elsewhere for {pods}. The pool stays until there is: "
    "add capacity or scale down, then `/gpu-migrate retry {here}`.",
    Code.OTHERS_UNREADY: "Other GPU nodes are not ready: {nodes}. No further worker is taken away until they are.",
}
