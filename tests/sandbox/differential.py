"""Plays a sequence of writes to a server and gives back all answers and the watch's events, comparable between servers."""

import json
from dataclasses import dataclass
from typing import Any

from tests.sandbox.conformance.asking import APPLY, MERGE, STRATEGIC, Answer, Check, Server
from tests.sandbox.conformance.comparing import Normaliser

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """One request: create, replace, merge, strategic, apply, delete or read of the ConfigMap `name`."""

    verb: str
    name: str
    body: Json


async def play(server: Server, number: int, steps: list[Step]) -> Any:
    """The normalised answers of all steps and the events a watch saw, from a namespace of its own."""
    t, namespace = Check(server, "differential"), f"{server.namespace}-{number}"
    await t.post("/api/v1/namespaces", {"metadata": {"name": namespace}}, quiet=True)
    maps = f"/api/v1/namespaces/{namespace}/configmaps"
    started = (await t.get(maps, quiet=True)).meta["resourceVersion"]
    answers = [_shown(await _ask(t, maps, step)) for step in steps]
    await t.post(maps, {"metadata": {"name": "zz-last"}}, quiet=True)
    seen, _ = await t.watch(maps, until=_last, resourceVersion=started, timeoutSeconds=10)
    both = {"answers": answers, "events": [event for event in seen if not _last([event])]}
    return json.loads(json.dumps(Normaliser(server)(both)))


def _last(events: list[Any]) -> bool:
    return bool(events) and events[-1]["object"].get("metadata", {}).get("name") == "zz-last"


async def _ask(t: Check, maps: str, step: Step) -> Answer:
    path = f"{maps}/{step.name}"
    body = {**step.body, "metadata": {**step.body.get("metadata", {}), "name": step.name}}
    match step.verb:
        case "create":
            return await t.post(maps, body)
        case "replace":
            return await t.put(path, body)
        case "merge":
            return await t.patch(path, step.body, MERGE)
        case "strategic":
            return await t.patch(path, step.body, STRATEGIC)
        case "apply":
            full = {"apiVersion": "v1", "kind": "ConfigMap", **body}
            return await t.patch(path, full, APPLY, fieldManager="one")
        case "delete":
            return await t.delete(path)
        case _:
            return await t.get(path)


def _shown(answer: Answer) -> Json:
    return {"status": answer.status, "body": answer.body}
