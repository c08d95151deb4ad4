"""News that are told once, in English."""

from state.reasons import Code

NEWS = {
    Code.RUN_BEGAN: "The migration begins[, approved by {by:user}].",
    Code.NODE_READY: "Worker {worker} is Ready[ as node {node}][, version {version}]. Next: its GPU driver.",
    Code.GPUS_READY: "GPUs of worker {worker} are allocatable[ on node {node}][: {gpus}]. Workloads can come.",
    Code.GPUS_LOST: "Worker {worker} lost its GPUs[ on node {node}]. No further worker is taken away meanwhile.",
    Code.WORKLOADS_RECOVERED: "Workloads run again: {workloads}[ (after: {after:step})]"
    "[; {rejected} rejected pods are left over].",
    Code.WORKLOAD_UNRECOVERED: "{workload} has not recovered: {have} of {want} pods are available[: {scheduling}].",
    Code.SCHEDULER_NOT_RETRIED: "GPUs are free and {pods} would fit, but the scheduler has not tried again. "
    "Delete the waiting pod, so that its owner makes a new one.",
    Code.STEP_STUCK: "Stuck: {step:step}. The bot keeps looking and goes on by itself once it can.",
    Code.STEP_FAILED: "Failed: {step:step}. Nothing new is ordered. "
    "`/gpu-migrate retry {here}` tries again, `/gpu-migrate abort {here}` ends the run.",
    Code.OLD_NODE_LABELLED: "Old GPU node {node} had no opt-out labels; it has them now, so that no second "
    "driver comes.",
    Code.UNCORDONED: "Node {node} takes pods again: this run's cordon was lifted.",
    Code.UNLABELLED: "The opt-out labels were taken off node {node}: no operator is installed.",
    Code.LABELS_KEPT: "The opt-out labels stay on {nodes}: the operator is installed and would start a second driver "
    "without them.",
    Code.TEMPORARY_POOL_LEFT: "Temporary pool {pool}[ ({size} × {flavor})] is still there and costs money until it is "
    "removed. `/gpu-migrate start {here}` offers its removal again; by hand, once its pods have moved: "
    "`ibmcloud ks worker-pool rm --cluster {here} --worker-pool {pool:raw}`.",
    Code.PREPARED: "Prepared: labels and operator are in place, and the cluster is watched. "
    "`/gpu-migrate start {here}` goes on.",
    Code.MIGRATION_DONE: "Migration done: every GPU worker runs the target version with a working driver.",
    Code.RUN_ABORTED: "The run was aborted[ by {by:user}]. Nothing new is ordered.",
    Code.DECIDED: "{step:step}: {decision:decision}[ by {by:user}].",
    Code.ADOPTED: "The answer was lost, but it had taken effect: {order:order}. It was not repeated.",
    Code.DCGM_FOUND: "GPU metrics: the DCGM exporter runs ({pods}). Point the monitoring at it.",
    Code.DCGM_MISSING: "GPU metrics: no DCGM exporter was found. Switch it on in the chart values to get them.",
    Code.NEXT_STEPS: "Next: watch the GPU workloads for a while, set up GPU metrics with the DCGM exporter, and read "
    "NVIDIA's GPU Operator documentation for further settings.",
}
