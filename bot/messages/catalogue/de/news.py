"""News that are told once, in German."""

from state.reasons import Code

NEWS = {
    Code.RUN_BEGAN: "Die Umstellung beginnt[, freigegeben von {by:user}].",
    Code.NODE_READY: "Worker {worker} ist Ready[ als Node {node}][, Version {version}]. "
    "Als Nächstes: sein GPU-Treiber.",
    Code.GPUS_READY: "Die GPUs von Worker {worker} sind zuteilbar[ auf Node {node}][: {gpus}]. "
    "Workloads können kommen.",
    Code.GPUS_LOST: "Worker {worker} hat seine GPUs verloren[ auf Node {node}]. "
    "Solange wird kein weiterer Worker weggenommen.",
    Code.WORKLOADS_RECOVERED: "Workloads laufen wieder: {workloads}[ (nach: {after:step})]"
    "[; {rejected} abgewiesene Pods sind übrig].",
    Code.WORKLOAD_UNRECOVERED: "{workload} ist nicht zurück: {have} von {want} Pods sind verfügbar[: {scheduling}].",
    Code.SCHEDULER_NOT_RETRIED: "GPUs sind frei und {pods} würde passen, aber der Scheduler hat es nicht noch einmal "
    "versucht. Den wartenden Pod löschen, damit sein Besitzer einen neuen macht.",
    Code.STEP_STUCK: "Es hakt: {step:step}. Der Bot sieht weiter nach und macht von selbst weiter, sobald es geht.",
    Code.STEP_FAILED: "Fehlgeschlagen: {step:step}. Nichts Neues wird in Auftrag gegeben. "
    "`/gpu-migrate retry {here}` versucht es neu, `/gpu-migrate abort {here}` beendet den Lauf.",
    Code.OLD_NODE_LABELLED: "Der alte GPU-Node {node} hatte keine Opt-out-Labels; jetzt hat er sie, "
    "damit kein zweiter Treiber kommt.",
    Code.UNCORDONED: "Node {node} nimmt wieder Pods an: die Sperre dieses Laufs ist aufgehoben.",
    Code.UNLABELLED: "Die Opt-out-Labels wurden von Node {node} genommen: es ist kein Operator installiert.",
    Code.LABELS_KEPT: "Die Opt-out-Labels bleiben auf {nodes}: der Operator ist installiert und würde ohne sie einen "
    "zweiten Treiber starten.",
    Code.TEMPORARY_POOL_LEFT: "Der temporäre Pool {pool}[ ({size} × {flavor})] ist noch da und kostet Geld, bis er entfernt "
    "ist. `/gpu-migrate start {here}` bietet die Entfernung wieder an; von Hand, sobald seine Pods umgezogen sind: "
    "`ibmcloud ks worker-pool rm --cluster {here} --worker-pool {pool:raw}`.",
    Code.PREPARED: "Vorbereitet: Labels und Operator sind da, der Cluster wird beobachtet. "
    "Weiter mit `/gpu-migrate start {here}`.",
    Code.MIGRATION_DONE: "Umstellung fertig: alle GPU-Worker laufen mit der Zielversion und funktionierendem Treiber.",
    Code.RUN_ABORTED: "Der Lauf wurde abgebrochen[ von {by:user}]. Nichts Neues wird in Auftrag gegeben.",
    Code.DECIDED: "{step:step}: {decision:decision}[ von {by:user}].",
    Code.ADOPTED: "Die Antwort ging verloren, doch es hat gewirkt: {order:order}. Nichts wurde wiederholt.",
    Code.DCGM_FOUND: "GPU-Metriken: der DCGM-Exporter läuft ({pods}). Das Monitoring darauf richten.",
    Code.DCGM_MISSING: "GPU-Metriken: kein DCGM-Exporter gefunden. "
    "In den Chart-Werten einschalten, um sie zu bekommen.",
    Code.NEXT_STEPS: "Nächste Schritte: GPU-Workloads eine Weile beobachten, GPU-Metriken mit dem DCGM-Exporter "
    "einrichten, für weitere Einstellungen NVIDIAs Dokumentation des GPU Operators lesen.",
}
