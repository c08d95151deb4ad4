"""What went wrong with a run, in German."""

from state.reasons import Code

FAILURES = {
    Code.DEADLINE: "{step:step} dauerte länger als {seconds:seconds}. Der Bot sieht weiter nach und gibt nichts Neues "
    "in Auftrag; `/gpu-migrate retry {here}` gibt wieder Zeit.",
    Code.ADMISSION_REFUSED: "Node {node} hat {count} GPU-Pods abgewiesen, obwohl GPUs frei sind: das Kubelet führt dort "
    "falsch Buch über die Geräte. Worker neu starten, fehlgeschlagene Pods löschen, dann `/gpu-migrate retry {here}`.",
    Code.PROVISION_FAILED: "IKS konnte Worker {worker} nicht bereitstellen[: {message}]. Nichts wird doppelt bestellt: "
    "Ursache beheben, dann `/gpu-migrate retry {here}`.",
    Code.STRANGER: "Es sind Worker aufgetaucht, die dieser Lauf nicht bestellt hat: {workers}. Er hält an, weil sie "
    "von den eigenen nicht zu unterscheiden sind. Klären, wem sie gehören, dann `/gpu-migrate retry {here}`.",
    Code.POSSIBLE_DOUBLE: "Worker {worker} hat wohl mehr als einen Nachfolger: {workers}. Der Lauf hält an; "
    "den überzähligen entfernen, dann `/gpu-migrate retry {here}`.",
    Code.RUNS_FAILED: "In kurzer Zeit schlugen Schritte in mehreren Clustern fehl: {clusters}. Meist hat das einen "
    "gemeinsamen Grund, darum hat der Bot von selbst alles angehalten.",
    Code.NOT_STARTED: "{attempts}-mal verlangt und nicht begonnen: {order:order}. IKS hat nichts angenommen: "
    "Cluster in der IBM Cloud ansehen, dann `/gpu-migrate retry {here}`.",
    Code.ORDER_REFUSED: "Abgelehnt: {order:order}[ mit Status {status}][, {code}][: {message}][ (Incident {incident})]. "
    "Nichts ist geschehen. Ursache beheben, dann `/gpu-migrate retry {here}`.",
    Code.CORDON_LIFTED: "Node {node} wurde nach der Sperre wieder geöffnet[ ({by:user})]. "
    "Der Bot fragt noch einmal, bevor es weitergeht.",
    Code.NEW_PODS: "Nach der Zustimmung kamen neue Pods auf Node {node}: {pods}. "
    "Der Bot fragt noch einmal, bevor es weitergeht.",
    Code.HANDED_OVER: "Nicht abgeschickt: dieser Prozess ging zu Ende. "
    "Wer den Lauf jetzt führt, sieht nach und entscheidet neu.",
    Code.FACTS_CHANGED: "Der Cluster hat sich seit der Frage verändert[: {step:step}]. Nichts ist geschehen; "
    "eine neue Karte zeigt den jetzigen Stand.",
    Code.MASTER_NOT_THERE: "Die Control Plane läuft mit {version}, nicht mit {target}. "
    "Vorher wird kein Worker ersetzt.",
    Code.LAST_GPU_WORKER: "{worker} ist der letzte GPU-Worker: nichts anderes könnte seine Workloads aufnehmen. "
    "Er bleibt, bis ein weiterer bereit ist.",
    Code.OLD_NODE_UNLABELLED: "Der alte GPU-Node {node} hat keine Opt-out-Labels, der Operator ist aber da: Operanden "
    "könnten über dem IBM-Treiber starten. Der Bot setzt die Labels.",
    Code.OPERAND_ON_OLD_NODE: "Operand {pod} läuft auf dem alten Node {node}, über dem IBM-Treiber. GPU-Workloads dort "
    "sind gefährdet: sofort ansehen.",
    Code.SUCCESSOR_OPTED_OUT: "Der neue Node {node} trägt {labels} und bekommt keinen Treiber. "
    "Labels vom Node und von seinem Pool nehmen.",
    Code.SUCCESSOR_WRONG_MINOR: "Der neue Worker {worker} läuft mit {version}, nicht mit der Zielversion. Der Lauf "
    "hält an; diesen Worker ersetzen, dann `/gpu-migrate retry {here}`.",
    Code.REJECTED: "Abgelehnt[ von {by:user}][: {step:step}]. Nichts ist geschehen. "
    "`/gpu-migrate retry {here}` fragt neu, `/gpu-migrate abort {here}` beendet den Lauf.",
    Code.PODS_WOULD_NOT_FIT: "Anderswo ist kein Platz für {pods}. Der Pool bleibt, bis es ihn gibt: "
    "Kapazität schaffen oder verkleinern, dann `/gpu-migrate retry {here}`.",
    Code.OTHERS_UNREADY: "Andere GPU-Nodes sind nicht bereit: {nodes}. "
    "Bis dahin wird kein weiterer Worker weggenommen.",
}
