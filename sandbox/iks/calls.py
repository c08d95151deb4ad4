"""One call to IKS as a value, and what a handler answers.

Reading arguments and refusing malformed ones; what a call does is the handlers' matter.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.iks.cloud import Cloud
from sandbox.iks.model import Cluster, Pool, Worker
from sandbox.iks.refusals import bad_request, no_cluster, no_pool, no_worker


@dataclass(frozen=True, slots=True)
class Call:
    """An authenticated call. `group`: X-Auth-Resource-Group, "" when left out; `params`: parts of the path."""

    cloud: Cloud
    actor: str
    group: str
    query: Mapping[str, str]
    body: Mapping[str, Any]
    params: Mapping[str, str] = field(default_factory=dict)

    def text(self, *names: str) -> str:
        """Read the first given of several spellings, from body, query or path; "" when there is none."""
        for name in names:
            value = self.body.get(name, self.query.get(name, self.params.get(name)))
            if value not in (None, ""):
                if not isinstance(value, str):
                    raise bad_request(f"The value of {name!r} must be a string.")
                return value
        return ""

    def need(self, *names: str) -> str:
        """Read a text that must be there; raises Refusal 400."""
        value = self.text(*names)
        if not value:
            raise bad_request(f"The required property {names[0]!r} is missing.")
        return value

    def number(self, name: str) -> int:
        value = self.body.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise bad_request(f"The property {name!r} must be a number, 0 or more.")
        return value

    def flag(self, name: str) -> bool:
        """Read a boolean from body or query; left out = false."""
        value = self.body.get(name, self.query.get(name, "false"))
        if isinstance(value, bool):
            return value
        return name in self.query and value in ("true", "")

    def texts(self, name: str) -> dict[str, str]:
        """Read a map of texts."""
        value = self.body.get(name, {})
        if not isinstance(value, dict) or not all(isinstance(item, str) for pair in value.items() for item in pair):
            raise bad_request(f"The property {name!r} must be an object of strings.")
        return dict(value)

    def cluster(self) -> Cluster:
        found = self.cloud.found(self.need("cluster"), self.group)
        if found is None:
            raise no_cluster()
        return found

    def worker(self, cluster: Cluster) -> Worker:
        """Find the worker that is named; it may be deleted already, as long as IBM remembers it."""
        found = cluster.workers.get(self.need("workerID", "worker"))
        if found is None:
            raise no_worker()
        return found

    def pool(self, cluster: Cluster) -> Pool:
        found = cluster.pool(self.need("workerpool", "workerPool", "workerPoolID", "pool"))
        if found is None:
            raise no_pool()
        return found


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back; `body` None = no body at all, text stays text. `cluster`, `target`, `effect`: for the journal."""

    status: int = 200
    body: Any = None
    cluster: str = ""
    target: str = ""
    effect: Mapping[str, Any] = field(default_factory=dict)


Handler = Callable[[Call], Answer]


@dataclass(frozen=True, slots=True)
class Route:
    """One endpoint. `verb`: its name in the journal; "" = a reading call, not journalled."""

    method: str
    path: str
    handler: Handler
    verb: str = ""
