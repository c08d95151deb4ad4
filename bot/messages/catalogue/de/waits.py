"""What a run waits for, in German."""

from state.reasons import Code

WAITS = {
    Code.WAIT_LABELS: "Warten, bis die Opt-out-Labels von {nodes} zurückgelesen sind.",
    Code.WAIT_OPERATOR_PODS: "Warten auf die eigenen Pods des Operators: {pods}.",
    Code.WAIT_RELEASE: "Warten auf das Helm-Release {release}[ (jetzt {status})].",
    Code.WAIT_NODE_CLEAN: "Warten, bis {what} vom ausgenommenen Node {node} verschwunden ist.",
    Code.WAIT_MASTER: "Die Control Plane wird aktualisiert[, jetzt auf {version}][ ({status})]. Das dauert; "
    "GPU-Workloads laufen weiter.",
    Code.WAIT_API_VERSION: "IKS meldet {iks}, der API-Server antwortet noch mit {api}. Warten, bis beide gleich sind.",
    Code.WAIT_POOL_WORKERS: "Pool {pool} hat {have} von {want} Workern. Warten auf den Rest.",
    Code.WAIT_WORKER: "Worker {worker} ist {state}[: {message}]. Warten, bis er deployed und normal ist.",
    Code.WAIT_OLD_WORKER_GONE: "Der alte Worker {worker} wird entfernt[ (jetzt {state})].",
    Code.WAIT_SUCCESSOR: "Warten auf den Nachfolger von {worker} im Pool {pool}.",
    Code.WAIT_NODE_READY: "Worker {worker} ist da; warten, bis sein Node[ {node}] Ready ist.",
    Code.WAIT_GPUS: "Node {node}: {stage:stage}[, Label {labels}][, Taint {taints}][, Pod {pod}][, Container {container}]"
    "[, {state}][: {message}][, {restarts} Neustarts][: {have} von {want} {resource}]. Warten auf seine GPUs.",
    Code.WAIT_STABLE: "Node {node} hat seine GPUs[; er muss noch {seconds:seconds} gesund bleiben].",
    Code.WAIT_PODS_GONE: "Node {node} wird geleert, noch {pods:n} Pods: {pods}.",
    Code.WAIT_CORDON: "Warten, bis Node {node} keine neuen Pods mehr annimmt.",
    Code.WAIT_WORKLOADS: "Warten, bis die Workloads wieder laufen: {workloads}.",
    Code.WAIT_POOL_GONE: "Der temporäre Pool {pool} wird entfernt[; noch da: {workers}].",
    Code.WAIT_OTHER_STEP: "Warten auf einen anderen Schritt: {step:step}.",
    Code.WAIT_SETTLE: "Die Antwort ging verloren: {order:order}. Nicht wiederholt; der Bot sieht nach, ob es gewirkt hat.",
    Code.WAIT_APPROVAL: "Warten auf eine Antwort[: {step:step}]. Bis dahin geschieht nichts.",
    Code.EVICTION_BLOCKED: "Jetzt nicht zu räumen: {pods}[, Disruption Budget {budget}][ erlaubt {allowed}]. "
    "Der Bot versucht es weiter; eine Replica mehr oder ein weiteres Budget hilft.",
    Code.EVICTION_THROTTLED: "Der API-Server bremst bei {pod}[; nächster Versuch in {seconds:seconds}].",
    Code.EVICTION_MISCONFIGURED: "Pod {pod} unterliegt zwei Disruption Budgets; so räumt ihn die API nie. "
    "Eines der Budgets entfernen.",
    Code.UNDO_WAITS: "Was dieser Lauf gesetzt hat, wird zurückgenommen, sobald die Läufe wieder dürfen[: {nodes}].",
    Code.BRAKE: "Alle Läufe dieser Installation sind angehalten[ von {by:user}][: {detail}]. "
    "Bis dahin geht kein Auftrag hinaus; weiter mit `/gpu-migrate resume-all`.",
    Code.PAUSED: "Angehalten[ von {by:user}]. Weiter mit `/gpu-migrate resume {here}`.",
}
