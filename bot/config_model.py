"""The shape of the configuration file: every key, its type and its bounds, so that one validation finds all faults.

A key that is not here does not exist. Secrets never stand in the file, and sentences for people are in `config_faults`.
"""

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

LONGEST = timedelta(days=7)
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def read_duration(value: Any) -> timedelta:
    """Seconds as a number, or such as `90s`, `5m`, `1h30m`. Raises ValueError."""
    if isinstance(value, timedelta):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = float(value)
    else:
        text = str(value).replace(" ", "")
        parts = _PART.findall(text)
        if not parts or "".join(f"{number}{unit}" for number, unit in parts) != text:
            raise ValueError("is no duration: write seconds, or 90s, 5m, 1h30m")
        seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if not 0 < seconds <= LONGEST.total_seconds():
        raise ValueError("has to be more than nothing and at most 7d")
    return timedelta(seconds=seconds)


def _replicas(value: Any) -> int | None:
    """None for `auto`."""
    text = str(value)
    if text in ("auto", "None"):
        return None
    if not (text.isascii() and text.isdigit() and int(text) <= 9):
        raise ValueError("has to be a number from 0 to 9, or auto")
    return int(text)


def _slack_user(value: str) -> str:
    if not re.fullmatch(r"[UW][A-Z0-9]{2,20}", value):
        raise ValueError("is no Slack user id: open the person's profile, ⋮, Copy member ID (U…)")
    return value


def _slack_channel(value: str) -> str:
    if value and not re.fullmatch(r"[CG][A-Z0-9]{2,20}", value):
        raise ValueError("is no Slack channel id: open the channel's details; the id (C…) is at the bottom")
    return value


def _url(value: str) -> str:
    try:
        parts = urlsplit(value)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if value and not whole:
        raise ValueError("is no URL: it has to begin with https://")
    return value.rstrip("/")


def _repository(value: str) -> str:
    if "://" not in value:
        if not Path(value).is_absolute():
            raise ValueError("is no chart source: write https://…, oci://… or an absolute path")
        return value
    if value.startswith(("oci://", "file://")):
        return value.rstrip("/")
    return _url(value)


def _version(value: str) -> str:
    plain = value.removeprefix("v")
    if not re.fullmatch(r"\d+\.\d+\.\d+", plain):
        raise ValueError("is no chart version: write it as 26.7.0, in quotation marks")
    return plain


def _existing(value: Path) -> Path:
    if not value.is_file():
        raise ValueError("is no file here")
    return value


def _five_seconds(value: timedelta) -> timedelta:
    if value < timedelta(seconds=5):
        raise ValueError("has to be at least 5s")
    return value


UserId = Annotated[str, AfterValidator(_slack_user)]
ChannelId = Annotated[str, AfterValidator(_slack_channel)]
Url = Annotated[str, AfterValidator(_url)]
Repository = Annotated[str, AfterValidator(_repository)]
ChartVersion = Annotated[str, AfterValidator(_version)]
Replicas = Annotated[int | None, BeforeValidator(_replicas)]
Duration = Annotated[timedelta, BeforeValidator(read_duration)]
LongDuration = Annotated[timedelta, BeforeValidator(read_duration), AfterValidator(_five_seconds)]
ExistingFile = Annotated[Path, AfterValidator(_existing)]
DnsName = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", max_length=53)]


class Part(BaseModel):
    """What all parts of the file have in common: no key that is not known, nothing changed later."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class Chart(Part):
    """Where the GPU Operator comes from."""

    repository: Repository | None = None
    chart: Annotated[str, Field(min_length=1)] | None = None
    version: ChartVersion | None = None
    tested: tuple[ChartVersion, ChartVersion] | None = None
    release: DnsName | None = None
    namespace: DnsName | None = None
    values: dict[str, Any] | None = None


class Waits(Part):
    """Durations, named as in state/policy.py."""

    poll: Duration | None = None
    idle: Duration | None = None
    stable: Duration | None = None
    settle: Duration | None = None
    evict_retry: Duration | None = None
    label: Duration | None = None
    install: Duration | None = None
    master: Duration | None = None
    pool: Duration | None = None
    drain: Duration | None = None
    replace: Duration | None = None
    gpus: Duration | None = None
    remove: Duration | None = None
    verify: Duration | None = None
    quiet: Duration | None = None
    stale: LongDuration | None = None
    typical_replace: Duration | None = None


class Section(Part):
    """Choices for one cluster, or for all in `defaults`. What is left out is taken from there."""

    mode: Literal["observe", "act"] | None = None
    channel: ChannelId | None = None
    approvers: tuple[UserId, ...] | None = None
    operators: tuple[UserId, ...] | None = None
    target_minor: Literal["1.36"] | None = None
    close_old_nodes: bool | None = None
    attempts: Annotated[int, Field(ge=1, le=10)] | None = None
    resource_group: str | None = None
    endpoint_type: Literal["public", "private", "vpe"] | None = None
    chart: Chart = Chart()
    durations: Waits = Waits()


class File(Part):
    """The whole file; keys of the installation first."""

    language: Literal["en", "de"] = "en"
    replica: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,63}$")] = ""
    team: Annotated[str, Field(pattern=r"^(T[A-Z0-9]{2,20})?$")] = ""
    http_host: str = "0.0.0.0"
    http_port: Annotated[int, Field(ge=0, le=65535)] = 8080
    slack_api_url: Url = "https://slack.com/api"
    iks_url: Url = "https://containers.cloud.ibm.com/global"
    iam_url: Url = "https://iam.cloud.ibm.com"
    iam_profile: str = ""
    iam_token_file: Path | None = None
    iks_requests: Annotated[int, Field(ge=1, le=1_000_000)] = 200
    proxy: Url = ""
    ca_bundle: ExistingFile | None = None
    helm: Annotated[str, Field(min_length=1)] = "helm"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    brake_failures: Annotated[int, Field(ge=0, le=1000)] = 3
    brake_window: Duration = timedelta(minutes=30)
    retention_days: Annotated[int, Field(ge=1, le=3650)] = 90
    redis_replicas: Replicas = None
    defaults: Section = Section()
    clusters: Annotated[dict[str, Section], Field(min_length=1)]
