"""Answers to one person, in German."""

from state.reasons import Code

ANSWERS = {
    Code.RECORDED: "Aufgenommen. Was daraus wird, steht im Thread des Laufs.",
    Code.ABORT_WAITS: "Aufgenommen: Der Lauf in {cluster} wird abgebrochen und erteilt keinen Auftrag seines Plans mehr. "
    "Was er gesetzt hat (Sperren, Labels), bleibt noch, denn alle Läufe sind angehalten. Nach `/gpu-migrate resume-all` "
    "wird es zurückgenommen und die Entfernung eines temporären Pools angeboten.",
    Code.NOT_RECORDED: "Nicht aufgenommen: das Gedächtnis des Bots antwortet nicht rechtzeitig. Nichts ist geschehen; "
    "bitte gleich noch einmal versuchen.",
    Code.ALREADY_DECIDED: "Schon {decision:decision}[ von {by:user}][, {at:when}]. Dieser Klick hat nichts geändert.",
    Code.STALE_CARD: "Diese Karte ist überholt: seitdem hat sich etwas geändert. Nichts ist geschehen; "
    "bitte die neueste Karte im Thread beantworten.",
    Code.UNKNOWN_CARD: "Dieser Knopf gehört zu keiner Frage, die hier offen ist. Nichts ist geschehen; "
    "`/gpu-migrate runs` zeigt, was läuft.",
    Code.NOT_APPROVER: "Diese Frage beantworten nur Freigeber, {user:user} gehört nicht dazu. Nichts ist geschehen; "
    "einen von ihnen fragen oder die Konfiguration ändern lassen.",
    Code.NOT_OPERATOR: "Umstellungen dieses Clusters steuern nur Operatoren, {user:user} gehört nicht dazu. "
    "Nichts ist geschehen; `status`, `plan` und `report` stehen allen frei.",
    Code.WRONG_TEAM: "Dieser Bot antwortet nur Mitgliedern seines eigenen Workspace. Nichts ist geschehen.",
    Code.UNKNOWN_CLUSTER: "Kein Cluster {cluster} konfiguriert. Bekannt: {known}. "
    "In der Konfiguration unter `clusters:` eintragen oder Schreibweise prüfen.",
    Code.UNKNOWN_COMMAND: "{word} kenne ich nicht.[ Gemeint war {suggestion}?] Siehe `/gpu-migrate help`.",
    Code.MISSING_CLUSTER: "Welcher? Bitte `/gpu-migrate {command:raw} CLUSTER` eingeben. Bekannt: {known}.",
    Code.NO_RUN: "In {cluster} läuft nichts. `/gpu-migrate plan {cluster:raw}` zeigt, was zu tun wäre, "
    "`/gpu-migrate start {cluster:raw}` beginnt.",
    Code.NO_SUCH_RUN: "Einen Lauf {run} gibt es hier nicht. `/gpu-migrate runs` listet sie auf.",
    Code.RUN_ENDED: "Der Lauf {run}[ von {cluster}] ist zu Ende[: {phase:phase}]. Nichts ist geschehen; "
    "`/gpu-migrate report {run:raw}` erzählt ihn[, `/gpu-migrate start {cluster:raw}` beginnt einen neuen].",
    Code.RUN_EXISTS: "{cluster} hat schon einen Lauf: {run}[, {phase:phase}]. "
    "`/gpu-migrate status {cluster:raw}` zeigt ihn; ein Cluster hat nur einen Lauf zur Zeit.",
    Code.NOT_IN_CHANNEL: "Ich bin kein Mitglied von {channel:channel}; niemand sähe meine Fragen. "
    "Dort `/invite @gpu-migrate` eingeben, dann noch einmal versuchen.",
    Code.NOTHING_TO_DO: "Es gibt jetzt nichts zum {command:command}[: Stand des Laufs: {phase:phase}].",
    Code.STARTED_LOOKING: "{cluster} wird angesehen. Der Plan erscheint gleich im Channel; geändert wird nichts, bevor "
    "jemand den Knopf darauf drückt.",
    Code.LOOKING: "{cluster} wird angesehen. Was ein Lauf täte, erscheint gleich hier, für die fragende Person allein; "
    "nichts wird geändert, nichts gespeichert.",
    Code.BRAKE_SET: "Angehalten: ab jetzt geht in keinem Cluster ein Auftrag hinaus[, veranlasst von {by:user}]. Begonnene "
    "Aufrufe laufen zu Ende. Mit `/gpu-migrate resume-all` geht alles weiter.",
    Code.BRAKE_LIFTED: "Alle Läufe gehen weiter[, veranlasst von {by:user}]. Einzeln angehaltene bleiben angehalten.",
    Code.EXTRA_WORDS: "Was heißt {words} nach `{command:raw}`? Nichts ist geschehen; "
    "bitte ohne diese Wörter eingeben oder `/gpu-migrate help`.",
    Code.STOPPED_ALL: "Pause verlangt für {clusters}[; nicht erlaubt für {refused}]. Begonnene Aufrufe laufen zu Ende, "
    "neue warten auf `/gpu-migrate resume`.",
    Code.NOTHING_RUNS: "Es läuft keine Umstellung.",
}
