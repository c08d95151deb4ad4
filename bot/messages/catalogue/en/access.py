"""Who could not be reached or refused the bot, in English."""

from state.reasons import Code

ACCESS = {
    Code.IKS_UNREACHABLE: "IBM Cloud Kubernetes Service does not answer[ (status {status})][: {detail}]. "
    "Tried again by itself; nothing is ordered meanwhile.",
    Code.IKS_REFUSED: "IKS refused the call[ with status {status}][, {code}][: {message}][ (incident {incident})]. "
    "It would refuse it again: check rights and configuration.",
    Code.IKS_BUSY: "IKS cannot do it right now[ (status {status})][, {code}][: {message}][ (incident {incident})]. "
    "Tried again by itself.",
    Code.IKS_LOGIN: "The login at IBM Cloud failed[, {code}][: {message}]. "
    "Nothing goes on until the API key works again.",
    Code.CLUSTER_NOT_FOUND: "IKS knows no cluster {cluster}[ ({code})][: {message}][ (incident {incident})]. "
    "Check the name, the account and the resource group.",
    Code.CLUSTER_AMBIGUOUS: "More than one cluster is called {cluster}: {ids}. Put the id into the configuration.",
    Code.API_UNREACHABLE: "The cluster's API server does not answer[: {detail}]. "
    "Tried again by itself; nothing is ordered meanwhile.",
    Code.API_REFUSED: "The cluster's API server refused the call[ with status {status}][: {message}]. "
    "Check the bot's rights.",
    Code.API_LOGIN: "The cluster's API server does not accept the bot's login[ (status {status})]. "
    "A fresh one is fetched; if this stays, check its IAM access.",
    Code.HELM_FAILED: "helm ended with {exit}[: {detail}]. Nothing is repeated blindly; the bot looks at the release.",
    Code.HELM_MISSING: "There is no helm at {path}. Install it or set its path.",
    Code.STORE_UNREACHABLE: "The bot's memory (Redis) does not answer[: {detail}]. "
    "Nothing is ordered until it does; the run goes on by itself then.",
    Code.STORE_REFUSED: "The bot's memory (Redis) refuses to write[: {detail}]. "
    "Nothing is ordered until it does again.",
    Code.STORE_REWOUND: "The bot's memory went back in time: known {known}, found {found}. "
    "The run stopped; compare it with the cluster before `/gpu-migrate resume {here}`.",
    Code.STORE_LOST: "The record of run {run} in cluster {cluster} is gone from Redis. Nothing more is ordered; what IBM "
    "Cloud began goes on there. `/gpu-migrate start {cluster:raw}` looks, shows what it finds and continues from there.",
    Code.STORE_UNREADABLE: "The bot cannot read what it remembered[: {what}]. It was written by a newer version or is "
    "damaged; the run is left alone until a version that can read it runs.",
    Code.STORE_OVERTAKEN: "Another process changed run {run}[ ({what}: known {known}, found {found})]. "
    "This one stopped and reads it again.",
    Code.STORE_OLD: "Redis {version} is too old; install 6.2 or newer, or Valkey.",
    Code.STORE_EVICTS: "Redis throws records away when its memory is full (maxmemory-policy {policy}). "
    "Set it to noeviction.",
    Code.STORE_FORGETS: "Redis may forget what it acknowledged when its machine fails ({setting}). "
    "Set appendonly yes and appendfsync always.",
    Code.REPLICA_SUPERSEDED: "Another process runs under the name {replica}. This one gives its runs away and stops.",
    Code.SLACK_UNREACHABLE: "Slack does not answer[: {error}]. Messages come later; the run does not wait for them.",
    Code.SLACK_REFUSED: "Slack refused[: {error}]. Check the app's scopes and that it is in the channel.",
    Code.CONFIG_WRONG: "The configuration is wrong: {faults}",
    Code.UNEXPECTED: "An error of the bot itself[ in {where}][: {what}]. Nothing was done; "
    "please report it, then try again.",
}
