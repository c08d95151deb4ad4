"""Lines of cards and plans, in German."""

from state.reasons import Code

CARDS = {
    Code.CARD_PLAN: "Der Plan hat {steps:n} Schritte. Labels und Operator brauchen keine weitere Frage; "
    "vor allem, was Workloads stört oder Geld kostet, wird noch einmal gefragt.",
    Code.CARD_MASTER: "Die Control Plane geht[ von {version}] auf {target}. GPU-Workloads laufen weiter; "
    "die API ist für kurze Momente weg.",
    Code.CARD_NO_ROLLBACK: "*Nicht umkehrbar:* IBM bietet keinen Weg zurück zur alten Version.",
    Code.CARD_POOL: "Ein temporärer Pool {pool} entsteht: {size} × {flavor} in {zone}.",
    Code.CARD_COST: "*Kostet Geld:* {pool}, bis er entfernt ist; vor dem Entfernen fragt der Bot.",
    Code.CARD_REMOVE_POOL: "Der temporäre Pool {pool} wird geleert und entfernt[, mit {workers}].",
    Code.CARD_WORKER: "Worker {worker}[ (Node {node})][, {flavor}][, GPUs: {gpus}] wird geleert und durch "
    "einen neuen ersetzt.",
    Code.CARD_CLOSE_OLD: "Diese alten Nodes nehmen ab jetzt keine neuen Pods an, damit jeder Workload nur einmal "
    "umzieht: {nodes}.",
    Code.CARD_PODS_MOVE: "Diese Pods ziehen auf andere Nodes um: {pods}.",
    Code.CARD_PODS_PENDING: "*Anderswo keine freie GPU* für {pods}: weg, bis der Nachfolger bereit ist.",
    Code.CARD_FORECAST: "Prognose: etwa {lost} GPU-Minuten gehen verloren (GPUs ohne Platz: {gpus}; "
    "ein Ersatz dauert etwa {seconds:seconds}).",
    Code.CARD_DELETED_FOR_GOOD: "*Nicht umkehrbar:* die Maschine {worker} wird mit allem auf ihren Platten gelöscht, "
    "was Disruption Budgets auch sagen.",
    Code.CARD_NOTHING_HAPPENS: "Es geschieht nichts, bis jemand antwortet.",
    Code.CARD_CHANGED: "*Seit der letzten Karte geändert*[: {what}].",
}
