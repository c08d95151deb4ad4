"""The mark of a run on the node of a worker that is about to be replaced, as annotations.

The Lease says who is at work in a cluster; this says what was about to happen to which machine, and goes with it. As there,
etcd decides: a patch names the revision that was read. A fresh mark of another run is left alone.
"""

from collections.abc import Callable, Mapping
from datetime import datetime

from bot.adapters.kubernetes.connection import MERGE_PATCH, Call, Connection, checked, segment
from bot.adapters.kubernetes.fields import Json, rows, strings, table, text
from bot.adapters.kubernetes.nodes import WORKER_ID
from state.errors import TransientError
from state.marks import PREFIX, RUN, is_fresh, is_strange
from state.reasons import Code, reason

NAME = "gpu-migrate"
NODES = "/api/v1/nodes"
TRIES = 5


class NodeMarks:
    """Marks on the nodes of one cluster."""

    def __init__(self, connection: Connection, clock: Callable[[], datetime]) -> None:
        self._connection = connection
        self._clock = clock

    async def claim(self, worker_id: str, facts: Mapping[str, str]) -> Mapping[str, str]:
        """Write `facts`; the mark that stands afterwards, ours or a fresh stranger's, empty when there is no node.

        Raises TransientError when others keep writing, and what the connection raises.
        """
        for _ in range(TRIES):
            node = await self._find(worker_id)
            if node is None:
                return {}
            there = _mark(node)
            if is_strange(there, facts.get("run", "")) and is_fresh(there, self._clock()):
                return there
            written = await self._patch(node, {f"{PREFIX}{name}": value for name, value in facts.items()})
            if written is not None:
                return _mark(written)
        raise TransientError(reason(Code.API_UNREACHABLE, detail="the mark on the node keeps changing"))

    async def release(self, worker_id: str, run_id: str) -> None:
        """Take this run's mark off a node; another run's stays, and one that changes just now grows old by itself."""
        node = await self._find(worker_id)
        mark = {} if node is None else _mark(node)
        if node is not None and mark.get(RUN) == run_id:
            await self._patch(node, dict.fromkeys(mark))

    async def _find(self, worker_id: str) -> Json | None:
        """The worker's node; of two that carry its id the one that came last, the other is about to be collected."""
        found = await self._list({"labelSelector": f"{WORKER_ID}={worker_id}"})
        return max(found, key=lambda node: text(table(node, "metadata"), "creationTimestamp"), default=None)

    async def _list(self, query: Mapping[str, str]) -> tuple[Json, ...]:
        answer = await self._connection.call(Call("GET", NODES, query))
        return tuple(rows(checked(answer).body, "items"))

    async def _patch(self, node: Json, annotations: Mapping[str, str | None]) -> Json | None:
        """The node as written; None when somebody else wrote in between, or it has gone."""
        metadata = table(node, "metadata")
        body = {"metadata": {"annotations": annotations, "resourceVersion": text(metadata, "resourceVersion")}}
        path = f"{NODES}/{segment(text(metadata, 'name'))}"
        answer = await self._connection.call(Call("PATCH", path, {"fieldManager": NAME}, body, MERGE_PATCH))
        if answer.status in (404, 409):
            return None
        return checked(answer, mutating=True).body


def _mark(node: Json) -> dict[str, str]:
    notes = strings(table(node, "metadata"), "annotations")
    return {name: value for name, value in notes.items() if name.startswith(PREFIX)}
