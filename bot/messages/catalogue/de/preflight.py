"""What forbids a migration or warns of something, in German."""

from state.reasons import Code

PREFLIGHT = {
    Code.NOT_IKS: "Kein Cluster des IBM Cloud Kubernetes Service, sondern {offering}. Dieses Verfahren gilt nur für "
    "IKS: es geschieht nichts.",
    Code.NOT_VPC: "Der Cluster läuft auf {provider}. Nur VPC-Cluster lassen sich umstellen: es geschieht nichts.",
    Code.WRONG_MINOR: "Die Control Plane läuft mit {version}; die Umstellung beginnt bei {wanted}. "
    "Cluster zuerst auf {wanted} bringen.",
    Code.WORKER_TOO_OLD: "GPU-Worker {worker} läuft mit {version}, zu alt für den Schritt zum Ziel. "
    "Zuerst auf den Stand der Control Plane ersetzen.",
    Code.MASTER_BUSY: "Die Control Plane ist beschäftigt[ (Zustand {state})][, Status {status}][, Health {health}]. "
    "Sie muss deployed und normal sein, bevor etwas beginnt.",
    Code.MASTER_BLOCKED: "IBM lässt kein Update der Control Plane zu[ (Zustand {state})][: {status}]. "
    "Das zuerst klären, notfalls mit dem IBM-Support.",
    Code.NO_GPU_WORKERS: "Der Cluster hat keine GPU-Worker: es gibt nichts umzustellen.",
    Code.NO_TARGET_YET: "IKS bietet noch kein {minor} an. Labels und Operator lassen sich schon vorbereiten: "
    "`/gpu-migrate prepare {here}`.",
    Code.AUTOSCALER: "Der Cluster-Autoscaler[ (Add-on {addon} {version}, gemacht für {range})] ist aktiv[ auf {pools}] "
    "und würde mittendrin Pools ändern. Für die GPU-Pools abschalten.",
    Code.ADDON_RANGE: "Add-on {addon} {version} unterstützt nur {range}. Vor der Control Plane aktualisieren.",
    Code.REBALANCE_OFF: "Pool {pool} wird nicht automatisch aufgefüllt: ein ersetzter Worker würde nur gelöscht. "
    "Automatisches Ausbalancieren einschalten.",
    Code.POOL_SHORT: "Pool {pool} hat {have} von {want} Workern. Warten, bis er vollständig ist, oder Größe anpassen.",
    Code.POOL_LABELS: "Pool {pool} gibt jedem neuen Worker {labels} mit; dort käme nie ein Treiber an. "
    "Diese Labels vom Pool nehmen (nicht von den Nodes).",
    Code.MIXED_OS: "Die GPU-Worker haben verschiedene Betriebssysteme: {systems}. Zuerst vereinheitlichen.",
    Code.TAINT_NOT_TOLERATED: "Node {node} hat den Taint {taint}, den die Pods des Operators[ ({by})] nicht dulden. "
    "Toleration in die Chart-Werte dieses Clusters aufnehmen.",
    Code.UPGRADE_FAILED: "Node {node} trägt {label}: NVIDIAs Treiber-Manager hat dort aufgegeben. "
    "Ursache klären und das Label entfernen, bevor der Worker angefasst wird.",
    Code.FOREIGN_OPERATOR: "Hier verwaltet schon etwas anderes die GPUs: {what}. Zwei davon kämen sich in die Quere: "
    "zuerst entfernen.",
    Code.RELEASE_ELSEWHERE: "Ein GPU Operator ist schon installiert: Release {release} in {namespace}, Version "
    "{version}. Er wird so verwendet; daneben wird nichts installiert.",
    Code.RELEASE_STUCK: "Release {release}[ in {namespace}] steht auf {status}[ seit {minutes:minutes}]. Ein helm-Aufruf "
    "wurde unterbrochen: zurückrollen oder deinstallieren.",
    Code.RELEASE_FAILED: "Release {release}[ in {namespace}][ (Version {version})] ist fehlgeschlagen. "
    "Zuerst reparieren oder deinstallieren.",
    Code.RELEASES_MANY: "Es gibt mehr als einen GPU Operator: {releases}. Einen behalten, die anderen deinstallieren.",
    Code.CHART_UNTESTED: "GPU Operator {version} liegt außerhalb des getesteten Bereichs {low} bis {high}. "
    "Es kann gehen; niemand hat es versucht.",
    Code.OPERATOR_LABELLED_NODE_DIRTY: "Node {node} ist vom Operator ausgenommen und hat trotzdem {what}. "
    "Das stört den IBM-Treiber: vor dem Weitermachen ansehen.",
    Code.MISSING_RIGHTS: "Dem Bot fehlen Rechte in diesem Cluster: {rights}. Ihm die Rolle Manager geben.",
    Code.NODE_WORKER_MISMATCH: "Worker {worker} und Node {node} gehören nicht zusammen. "
    "Mit einer Maschine, die nicht sicher zu benennen ist, geschieht nichts.",
    Code.GPU_LABEL_WITHOUT_GPU: "Worker {worker} ist als GPU-Maschine gekennzeichnet, sein Flavor {flavor} hat aber "
    "keine GPU. Er bleibt unberührt.",
    Code.NOT_NVIDIA: "Worker {worker} (Flavor {flavor}) hat GPUs eines anderen Herstellers. Er bleibt unberührt.",
    Code.ALREADY_CORDONED: "Node {node} ist schon gesperrt[, von {by:user}]. Dieser Lauf öffnet ihn nicht wieder.",
    Code.WORKER_UNHEALTHY: "Worker {worker} ist nicht gesund[: {state}][ / {health}][, {message}]. Zuerst reparieren.",
    Code.PDB_BLOCKS: "Pod {pod} wird vom Disruption Budget {budget} geschützt, das {allowed} Unterbrechungen erlaubt. "
    "Replica hinzufügen oder Budget lockern, sonst lässt sich der Worker nicht leeren.",
    Code.SINGLE_REPLICA: "{workload} hat nur eine Replica: sie ist weg von der Räumung an, bis sie anderswo läuft.",
    Code.ALREADY_MIGRATED: "Alle GPU-Worker laufen schon mit der Zielversion und ihrem Treiber: es gibt nichts zu tun.",
    Code.HALF_DONE: "Diese Umstellung wurde schon einmal begonnen.[ Control Plane: {master}.][ Worker auf der Zielversion: "
    "{workers}.][ Temporäre Pools: {pools}.][ Nodes mit Opt-out-Labels: {nodes}.][ Marke von Lauf {mark}.] "
    "Der Plan macht dort weiter und wiederholt nichts.",
    Code.OTHER_RUN_IN_CLUSTER: "Der Cluster trägt die Marke eines anderen Laufs: {run}[ der Installation {instance}]. "
    "Zwei Bots dürfen nicht an einem Cluster arbeiten: zuerst den anderen Lauf beenden.",
    Code.MODE_OBSERVE: "Dieser Cluster ist im Modus *observe*: der Bot sieht nach, plant und ändert nichts. "
    "Mit einem anderen `mode` in der Konfiguration darf er arbeiten.",
    Code.BARE_PODS: "Nichts stellt diese Pods nach der Räumung wieder her: {pods}. "
    "Selbst umziehen oder löschen, dann neu prüfen.",
    Code.EMPTY_DIR: "Diese Pods haben Daten in einem emptyDir, die beim Umzug verloren gehen: {pods}. "
    "Sichern oder beenden, dann neu prüfen.",
    Code.JOBS_RUNNING: "Diese Jobs sind mitten in der Arbeit und müssten von vorn beginnen: {pods}. "
    "Zu Ende laufen lassen, dann neu prüfen.",
    Code.HOST_LOCAL: "Diese Pods nutzen Speicher genau dieser Maschine, die gelöscht wird: {pods}. "
    "Daten umziehen, dann neu prüfen.",
}
