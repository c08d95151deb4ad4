"""Who could not be reached or refused the bot, in German."""

from state.reasons import Code

ACCESS = {
    Code.IKS_UNREACHABLE: "Der IBM Cloud Kubernetes Service antwortet nicht[ (Status {status})][: {detail}]. "
    "Der Bot versucht es weiter und gibt solange nichts in Auftrag.",
    Code.IKS_REFUSED: "IKS hat den Aufruf abgelehnt[ mit Status {status}][, {code}][: {message}][ (Incident "
    "{incident})]. Das bliebe so: Rechte und Konfiguration prüfen.",
    Code.IKS_BUSY: "IKS kann es gerade nicht[ (Status {status})][, {code}][: {message}][ (Incident {incident})]. "
    "Der Bot versucht es weiter.",
    Code.IKS_LOGIN: "Die Anmeldung bei IBM Cloud schlug fehl[, {code}][: {message}]. "
    "Nichts geht weiter, bis der API-Key wieder gilt.",
    Code.CLUSTER_NOT_FOUND: "IKS kennt keinen Cluster {cluster}[ ({code})][: {message}][ (Incident {incident})]. "
    "Name, Account und Ressourcengruppe prüfen.",
    Code.CLUSTER_AMBIGUOUS: "Mehr als ein Cluster heißt {cluster}: {ids}. Die Id in die Konfiguration eintragen.",
    Code.API_UNREACHABLE: "Der API-Server des Clusters antwortet nicht[: {detail}]. "
    "Der Bot versucht es weiter und gibt solange nichts in Auftrag.",
    Code.API_REFUSED: "Der API-Server des Clusters hat abgelehnt[ mit Status {status}][: {message}]. "
    "Rechte des Bots prüfen.",
    Code.API_LOGIN: "Der API-Server des Clusters nimmt die Anmeldung des Bots nicht an[ (Status {status})]. "
    "Eine neue wird geholt; bleibt es so, den IAM-Zugang prüfen.",
    Code.HELM_FAILED: "helm endete mit {exit}[: {detail}]. Nichts wird blind wiederholt; der Bot sieht das Release an.",
    Code.HELM_MISSING: "Unter {path} gibt es kein helm. Installieren oder den Pfad setzen.",
    Code.STORE_UNREACHABLE: "Das Gedächtnis des Bots (Redis) antwortet nicht[: {detail}]. "
    "Solange wird nichts in Auftrag gegeben; danach geht der Lauf von selbst weiter.",
    Code.STORE_REFUSED: "Das Gedächtnis des Bots (Redis) schreibt nicht[: {detail}]. "
    "Solange wird nichts in Auftrag gegeben.",
    Code.STORE_REWOUND: "Das Gedächtnis des Bots ging in der Zeit zurück: bekannt {known}, gefunden {found}. "
    "Der Lauf hält an; mit dem Cluster vergleichen, dann `/gpu-migrate resume {here}`.",
    Code.STORE_LOST: "Die Aufzeichnung von Lauf {run} im Cluster {cluster} ist aus Redis verschwunden. Es geht kein Auftrag "
    "mehr hinaus; was die IBM Cloud begonnen hat, läuft dort weiter. `/gpu-migrate start {cluster:raw}` sieht nach, "
    "zeigt den Stand und macht dort weiter.",
    Code.STORE_UNREADABLE: "Der Bot kann sein Gedächtnis nicht lesen[: {what}]. Eine neuere Version hat es geschrieben, "
    "oder es ist beschädigt; der Lauf bleibt unberührt, bis eine passende Version läuft.",
    Code.STORE_OVERTAKEN: "Ein anderer Prozess hat den Lauf {run} geändert[ ({what}: bekannt {known}, gefunden {found})]. "
    "Dieser hier hält an und liest ihn neu.",
    Code.STORE_OLD: "Redis {version} ist zu alt; 6.2 oder neuer installieren, oder Valkey.",
    Code.STORE_EVICTS: "Redis wirft Aufzeichnungen weg, wenn sein Speicher voll ist (maxmemory-policy {policy}). "
    "Auf noeviction stellen.",
    Code.STORE_FORGETS: "Redis kann Bestätigtes vergessen, wenn seine Maschine ausfällt ({setting}). "
    "appendonly yes und appendfsync always einstellen.",
    Code.REPLICA_SUPERSEDED: "Unter dem Namen {replica} läuft ein anderer Prozess. "
    "Dieser hier gibt seine Läufe ab und beendet sich.",
    Code.SLACK_UNREACHABLE: "Slack antwortet nicht[: {error}]. "
    "Nachrichten kommen später; der Lauf wartet nicht darauf.",
    Code.SLACK_REFUSED: "Slack hat abgelehnt[: {error}]. Scopes der App prüfen und ob sie im Channel ist.",
    Code.CONFIG_WRONG: "Die Konfiguration ist falsch: {faults}",
    Code.UNEXPECTED: "Ein Fehler des Bots selbst[ in {where}][: {what}]. Nichts ist geschehen; "
    "bitte melden und noch einmal versuchen.",
}
