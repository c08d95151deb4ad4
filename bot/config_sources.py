"""Read what settings are made of: the YAML file, the environment, and secrets by NAME or NAME_FILE.

Nothing is judged here but whether it can be read; a secret's value is in no text of an error and in no `repr`.
"""

import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pydantic_settings import BaseSettings, SettingsConfigDict

SECRETS = ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "IBMCLOUD_API_KEY", "REDIS_URL")
LONGEST_SECRET = 64 * 1024


class Environment(BaseSettings):
    """Variables that are no secrets. A variable wins over the file's key of the same name (without GPU_MIGRATE_)."""

    model_config = SettingsConfigDict(env_prefix="GPU_MIGRATE_", extra="ignore", env_ignore_empty=True)

    config: str | None = None
    language: str | None = None
    replica: str | None = None
    team: str | None = None
    http_host: str | None = None
    http_port: str | None = None
    proxy: str | None = None
    ca_bundle: str | None = None
    helm: str | None = None
    log_level: str | None = None
    iks_requests: str | None = None
    iam_profile: str | None = None
    iam_token_file: str | None = None
    brake_failures: str | None = None
    brake_window: str | None = None
    retention_days: str | None = None
    redis_replicas: str | None = None

    def given(self) -> dict[str, str]:
        """Keys that are set, but for the file's place."""
        return {key: str(value) for key, value in self.model_dump(exclude={"config"}).items() if value is not None}


class Addresses(BaseSettings):
    """Base URLs, by the names that other tools use for them too."""

    model_config = SettingsConfigDict(extra="ignore", env_ignore_empty=True)

    slack_api_url: str | None = None
    iks_url: str | None = None
    iam_url: str | None = None

    def given(self) -> dict[str, str]:
        return {key: str(value) for key, value in self.model_dump().items() if value is not None}


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret by value or by file. A file is read at each use, so that a rotated one counts at once."""

    name: str
    value: str = field(default="", repr=False)
    path: Path | None = None

    def read(self) -> str:
        """The secret, without white space around it. Raises OSError when its file is gone, ValueError when empty."""
        text = self.value
        if self.path is not None:
            with self.path.open(encoding="utf-8") as file:
                text = file.read(LONGEST_SECRET).strip()
        if not text:
            raise ValueError(f"{self.name} is empty")
        return text


def secret(name: str) -> Secret | str | None:
    """A secret of the environment; a sentence when it cannot be used, None when it is not set."""
    value, file = os.environ.get(name, "").strip(), os.environ.get(f"{name}_FILE", "").strip()
    if value and file:
        return f"{name}: is set twice; remove {name} or {name}_FILE"
    if not value and not file:
        return None
    found = Secret(name, value, Path(file) if file else None)
    try:
        found.read()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "is empty or no text"
        return f"{name}_FILE: {file} cannot be used ({why})"
    return found


def read_file(path: str) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Content of the YAML file, and what is wrong with the file itself."""
    try:
        content = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506 (a SafeLoader)
    except OSError as error:
        return {}, (f"GPU_MIGRATE_CONFIG: {path} cannot be read ({error.strerror})",)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        return {}, (f"GPU_MIGRATE_CONFIG: {path} is no YAML ({' '.join(str(error).split())[:300]})",)
    if content is None:
        return {}, ()
    if not isinstance(content, Mapping):
        return {}, (f"GPU_MIGRATE_CONFIG: {path} has to hold keys such as clusters, not a {type(content).__name__}",)
    return _worded(content), ()


def _worded(content: Mapping[Any, Any]) -> dict[str, Any]:
    """Top-level keys and cluster names as text: YAML reads 123 as a number."""
    worded = {str(key): value for key, value in content.items()}
    clusters = worded.get("clusters")
    if isinstance(clusters, Mapping):
        worded["clusters"] = {str(key): {} if value is None else value for key, value in clusters.items()}
    if worded.get("defaults", {}) is None:
        worded["defaults"] = {}
    return worded


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice: YAML would silently take the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key, _ in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else str(key)
            if name in seen and name != "<<":
                raise yaml.constructor.ConstructorError(None, None, f"the key {name} stands twice", key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)
