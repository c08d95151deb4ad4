"""Settings of one installation: read once, everything that is wrong named at once, then handed on as values.

Sources: one YAML file (GPU_MIGRATE_CONFIG), variables that win over it, secrets by NAME or NAME_FILE only. A cluster
that is not listed does not exist for the bot; a cluster without `mode` is only observed. docs/configuration.md is the
table of all keys.
"""

import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from bot.config_faults import faults_of
from bot.config_model import File, Section
from bot.config_sources import SECRETS, Addresses, Environment, Secret, read_file, secret
from state.braking import Limit
from state.errors import ConfigError
from state.policy import ChartChoice, Durations, Policy
from state.reasons import Code, reason

SERVE = SECRETS
OFFLINE = ("REDIS_URL",)
LOOK = ("IBMCLOUD_API_KEY",)
MERGED = ("chart", "durations")  # key by key with the defaults; all others are taken whole


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """One cluster as configured. `channel` "": where the run was started. `resource_group`: id, "" for all one sees."""

    name: str
    policy: Policy
    channel: str = ""
    resource_group: str = ""
    endpoint_type: str = "public"


@dataclass(frozen=True, slots=True)
class Settings:
    """All of it.

    Attributes:
        clusters: by IKS name or id, as written in the file.
        secrets: those that are set, by name.
        replica: name of this process among replicas; a restart under the same name takes over at once.
        team: Slack team id that may talk to us, "" for the one of the token.
        slack_api_url, iks_url, iam_url: base URLs without a slash at the end.
        iam_profile, iam_token_file: trusted profile to become, by API key or by the pod's own token.
        iks_requests: requests to IKS in 10 seconds.
        brake: how many runs may fail within how long before all are stopped.
        retention_days: how long ended runs and their logs are kept.
        redis_replicas: replicas of Redis that hold an intent before its call is made; None: one, when there are any.
        proxy: URL, "" for the environment's own rules.
    """

    clusters: Mapping[str, ClusterSettings]
    secrets: Mapping[str, Secret]
    replica: str
    team: str
    language: str
    http_host: str
    http_port: int
    slack_api_url: str
    iks_url: str
    iam_url: str
    iam_profile: str
    iam_token_file: Path | None
    iks_requests: int
    proxy: str = field(repr=False)
    ca_bundle: Path | None
    helm: str
    log_level: str
    brake: Limit
    retention_days: int
    redis_replicas: int | None

    def policies(self) -> Mapping[str, Policy]:
        """Policy by configured cluster name or id."""
        return {name: cluster.policy for name, cluster in self.clusters.items()}

    def channel_of(self, cluster: str) -> str:
        """The cluster's channel; "" means: where the run was started."""
        found = self.clusters.get(cluster)
        return found.channel if found else ""

    def secret(self, name: str) -> str:
        """A secret's present value. Raises ConfigError when it is not set or its file is gone."""
        found = self.secrets.get(name)
        if found is None:
            raise wrong((f"{name}: is not set; set {name} or {name}_FILE",))
        try:
            return found.read()
        except (OSError, ValueError) as error:
            raise wrong((f"{name}_FILE: cannot be used any more",)) from error


def load_settings(needs: Iterable[str] = SERVE) -> Settings:
    """Read everything. `needs`: secrets that have to be there. Raises ConfigError with all faults."""
    environment = Environment()
    content, faults = read_file(environment.config) if environment.config else ({}, (_NO_FILE,))
    given = {**environment.given(), **Addresses().given()}
    origins = {key: f"GPU_MIGRATE_{key.upper()}" for key in environment.given()}
    origins |= {key: key.upper() for key in Addresses().given()}
    file: File | None = None
    if not faults:
        try:
            file = File.model_validate({**content, **given})
        except ValidationError as error:
            faults = faults_of(error, origins)
    secrets, secret_faults = _secrets(tuple(needs), file)
    clusters = _clusters(file) if file else {}
    if file is not None and file.iam_token_file is not None and not file.iam_profile:
        faults = (*faults, "iam_profile: is missing; a pod's own token needs the trusted profile to become")
    faults = (*faults, *secret_faults, *(line for c in clusters.values() for line in _contradictions(c)))
    if file is None or faults:
        raise wrong(faults)
    return _settings(file, clusters, secrets)


def wrong(faults: tuple[str, ...]) -> ConfigError:
    """The error of a listing."""
    return ConfigError(reason(Code.CONFIG_WRONG, faults=faults))


_NO_FILE = "GPU_MIGRATE_CONFIG: is not set; set it to the path of the configuration file"


def _settings(file: File, clusters: Mapping[str, ClusterSettings], secrets: Mapping[str, Secret]) -> Settings:
    return Settings(
        clusters=clusters,
        secrets=secrets,
        replica=file.replica or socket.gethostname().partition(".")[0] or "gpu-migrate",
        team=file.team,
        language=file.language,
        http_host=file.http_host,
        http_port=file.http_port,
        slack_api_url=file.slack_api_url,
        iks_url=file.iks_url,
        iam_url=file.iam_url,
        iam_profile=file.iam_profile,
        iam_token_file=file.iam_token_file,
        iks_requests=file.iks_requests,
        proxy=file.proxy,
        ca_bundle=file.ca_bundle,
        helm=file.helm,
        log_level=file.log_level,
        brake=Limit(file.brake_failures, file.brake_window),
        retention_days=file.retention_days,
        redis_replicas=file.redis_replicas,
    )


def _secrets(needs: tuple[str, ...], file: File | None) -> tuple[dict[str, Secret], tuple[str, ...]]:
    """Secrets that are set, and what is wrong with them. A pod's own identity needs no API key."""
    keyless = file is not None and file.iam_token_file is not None
    found, faults = {}, []
    for name in SECRETS:
        match secret(name):
            case Secret() as usable:
                found[name] = usable
            case None if name in needs and not (keyless and name == "IBMCLOUD_API_KEY"):
                faults.append(f"{name}: is not set; set {name} or {name}_FILE")
            case str(fault):
                faults.append(fault)
    return found, tuple(faults)


def _clusters(file: File) -> dict[str, ClusterSettings]:
    return {name: _cluster(name, file.defaults, section) for name, section in file.clusters.items()}


def _cluster(name: str, defaults: Section, own: Section) -> ClusterSettings:
    chosen = {**_told(defaults, *MERGED), **_told(own, *MERGED)}
    chart = {**_told(defaults.chart), **_told(own.chart)}
    waits = {**_told(defaults.durations), **_told(own.durations)}
    approvers = chosen.get("approvers", ())
    policy = Policy(
        approvers=approvers,
        operators=chosen.get("operators") or approvers,
        observe=chosen.get("mode", "observe") == "observe",
        chart=replace(ChartChoice(), **chart),
        durations=replace(Durations(), **waits),
    )
    policy = replace(
        policy, **{key: chosen[key] for key in ("target_minor", "close_old_nodes", "attempts") if key in chosen}
    )
    rest = {key: chosen[key] for key in ("channel", "resource_group", "endpoint_type") if key in chosen}
    return ClusterSettings(name, policy, **rest)


def _told(part: BaseModel, *without: str) -> dict[str, Any]:
    """What somebody wrote in a part of the file."""
    written = {key: getattr(part, key) for key in part.model_fields_set if key not in without}
    return {key: value for key, value in written.items() if value is not None}


def _contradictions(cluster: ClusterSettings) -> tuple[str, ...]:
    """What is right by itself and wrong together."""
    key = f"clusters.{cluster.name}"
    if not cluster.policy.observe and not cluster.policy.approvers:
        return (
            f"{key}.approvers: nobody could answer, so mode act is refused; list Slack user ids or write mode: observe",
        )
    waits = cluster.policy.durations
    if waits.stale <= waits.settle:
        return (f"{key}.durations.stale: has to be longer than settle; else a lost call could be made again",)
    low, high = (tuple(int(n) for n in v.split(".")) for v in cluster.policy.chart.tested)
    if low > high:
        return (f"{key}.chart.tested: the lowest version stands first",)
    return ()
