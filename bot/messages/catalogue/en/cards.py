"""Lines of cards and plans, in English."""

from state.reasons import Code

CARDS = {
    Code.CARD_PLAN: "The plan has {steps:n} steps. Labels and the operator need no further question; "
    "everything that disturbs workloads or costs money is asked for again.",
    Code.CARD_MASTER: "The control plane goes[ from {version}] to {target}. GPU workloads keep running; "
    "the API is away for short moments.",
    Code.CARD_NO_ROLLBACK: "*Cannot be undone:* IBM offers no way back to the old version.",
    Code.CARD_POOL: "A temporary pool {pool} is created: {size} × {flavor} in {zone}.",
    Code.CARD_COST: "*Costs money:* {pool}, until it is removed; the bot asks before removing it.",
    Code.CARD_REMOVE_POOL: "Temporary pool {pool} is emptied and removed[, with {workers}].",
    Code.CARD_WORKER: "Worker {worker}[ (node {node})][, {flavor}][, GPUs: {gpus}] is emptied and replaced by "
    "a new one.",
    Code.CARD_CLOSE_OLD: "These old nodes take no new pods from now on, so that each workload moves once: {nodes}.",
    Code.CARD_PODS_MOVE: "These pods move to other nodes: {pods}.",
    Code.CARD_PODS_PENDING: "*No free GPU elsewhere* for {pods}: away until the successor is ready.",
    Code.CARD_FORECAST: "Forecast: about {lost} GPU-minutes are lost (GPUs without a place: {gpus}; "
    "a replacement takes about {seconds:seconds}).",
    Code.CARD_DELETED_FOR_GOOD: "*Cannot be undone:* machine {worker} is deleted with everything on its disks, "
    "whatever disruption budgets say.",
    Code.CARD_NOTHING_HAPPENS: "Nothing happens until somebody answers.",
    Code.CARD_CHANGED: "*Changed since the last card*[: {what}].",
}
