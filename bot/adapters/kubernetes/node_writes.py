"""Change a node: labels, cordon. Each write is a merge patch on exactly what was read.

A merge patch ignores a uid, so the node is read first, its uid compared, and its resourceVersion sent along: the server
then refuses the patch (409) when anything changed in between, a new node of the same name included.
"""

from collections.abc import Callable, Mapping

from bot.adapters.kubernetes.answers import Answer
from bot.adapters.kubernetes.connection import MERGE_PATCH, Call, Connection, checked, segment
from bot.adapters.kubernetes.fields import Json, flag, strings, table, text
from state.errors import PermanentError, TransientError
from state.reasons import Code, reason

MANAGER = "gpu-migrate"
TRIES = 5

Wanted = Mapping[str, str | None]


class NodeWrites:
    """Writes to the nodes of one cluster."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def label(self, name: str, uid: str, labels: Wanted) -> None:
        """Set or remove labels in one patch; TransientError when they do not read back as written (B005, B075)."""

        def there(node: Json) -> str:
            return _differing(strings(table(node, "metadata"), "labels"), labels)

        await self._write(name, uid, {"metadata": {"labels": dict(labels)}}, there)

    async def cordon(self, name: str, uid: str) -> None:
        await self._write(name, uid, {"spec": {"unschedulable": True}}, _cordoned)

    async def uncordon(self, name: str, uid: str) -> None:
        await self._write(name, uid, {"spec": {"unschedulable": None}}, _schedulable)

    async def _write(self, name: str, uid: str, patch: Json, missing: Callable[[Json], str]) -> None:
        """Patch until the server takes it. `missing` names what a node still lacks, "" when it is as wanted."""
        for _ in range(TRIES):
            node = await self._read(name, uid)
            if not missing(node):
                return
            answer = await self._patch(name, node, patch)
            if answer.status == 409:
                continue
            written = checked(answer, mutating=True).body
            await self._read_back(name, uid, written, missing)
            return
        raise TransientError(reason(Code.API_REFUSED, status=409, message=f"node {name} changes without pause"))

    async def _patch(self, name: str, node: Json, patch: Json) -> Answer:
        metadata = {**table(patch, "metadata"), "resourceVersion": _revision(node)}
        call = Call("PATCH", _path(name), {"fieldManager": MANAGER}, {**patch, "metadata": metadata}, MERGE_PATCH)
        answer = await self._connection.call(call)
        if answer.status == 404:
            raise _gone(name)
        return answer

    async def _read_back(self, name: str, uid: str, written: Json, missing: Callable[[Json], str]) -> None:
        """Believe the server only when the node says the same.

        What was written and then changed by somebody else (the operator takes `gpu.deploy.driver` off again) was
        written: the next look judges that.
        """
        node = await self._read(name, uid)
        lacking = missing(written) or (missing(node) if _revision(node) == _revision(written) else "")
        if lacking:
            message = f"node {name} reads back otherwise than written: {lacking}"
            raise TransientError(reason(Code.API_REFUSED, status=200, message=message))

    async def _read(self, name: str, uid: str) -> Json:
        node = await self._connection.get(_path(name))
        if node is None:
            raise _gone(name)
        if text(table(node, "metadata"), "uid") != uid:
            message = f"node {name} is another one now"
            raise PermanentError(reason(Code.API_REFUSED, status=409, message=message))
        return node


def _differing(there: Mapping[str, str], wanted: Wanted) -> str:
    """Name the keys that are not as wanted. An empty value is neither absent nor "false"."""
    wrong = (f"{key}={there.get(key)!r}" for key, value in wanted.items() if there.get(key) != value)
    return ", ".join(wrong)


def _cordoned(node: Json) -> str:
    return "" if flag(table(node, "spec"), "unschedulable") else "unschedulable is not set"


def _schedulable(node: Json) -> str:
    return "unschedulable is set" if flag(table(node, "spec"), "unschedulable") else ""


def _path(name: str) -> str:
    return f"/api/v1/nodes/{segment(name)}"


def _revision(node: Json) -> str:
    return text(table(node, "metadata"), "resourceVersion")


def _gone(name: str) -> PermanentError:
    return PermanentError(reason(Code.API_REFUSED, status=404, message=f"node {name} is gone"))
