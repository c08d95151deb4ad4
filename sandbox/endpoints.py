"""DIR/endpoints.json: where a running world answers. Written when all is up, read by the command line and by scripts."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

NAME = "endpoints.json"


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Addresses of one world.

    Attributes:
        slack_api: ends in /api/.
        slack_page: the page's address, with its slash.
        iks: base URL, /global included.
        iam: base URL; tokens at {iam}/identity/token.
        redis: what goes into REDIS_URL.
        bot: the bot's own port (/healthz, /readyz, /metrics), "" while it does not run.
        kubeconfigs: files for people, by cluster name (cluster-admin).
        credentials: the pretend secrets a bot needs: iam_api_key, slack_bot_token, slack_app_token, slack_signing_secret.
        pids: world, valkey, bot.
    """

    scenario: str
    speed: float
    slack_api: str
    slack_page: str
    iks: str
    iam: str
    redis: str
    control: str
    journal: str
    faults: str
    helm_repository: str
    bot: str = ""
    kubeconfigs: dict[str, str] = field(default_factory=dict)
    credentials: dict[str, str] = field(default_factory=dict)
    pids: dict[str, int] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def write(folder: Path, endpoints: Endpoints, name: str = NAME) -> None:
    """Put the file in place in one go, readable by its owner only."""
    draft = folder / f".{name}.{os.getpid()}"
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(endpoints.as_json(), indent=1) + "\n", encoding="utf-8")
    draft.replace(folder / name)


def read(folder: Path, name: str = NAME) -> Endpoints:
    """Read the file.

    Raises FileNotFoundError with a sentence when no world runs there.
    """
    try:
        raw = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as missing:
        raise FileNotFoundError(f"no running sandbox in {folder} (no {NAME}); start one with 'up'") from missing
    return Endpoints(**raw)


def remove(folder: Path, name: str = NAME) -> None:
    (folder / name).unlink(missing_ok=True)
