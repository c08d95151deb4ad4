"""Plays a sequence of writes to a server and gives back all answers and the watch's events, comparable between servers."""

import json
from dataclasses import dataclass
from typing import Any

from tests.sandbox.conformance.asking import APPLY, JSON_PATCH, MERGE, STRATEGIC, Answer, Check, Server
from tests.sandbox.conformance.comparing import Normaliser

Json = dict[str, Any]


APP = {"app": "x"}
CONTAINERS = [{"name": "main", "image": "i"}]
TEMPLATE = {"metadata": {"labels": APP}, "spec": {"containers": CONTAINERS}}
END: dict[str, Json] = {"Deployment": {"spec": {"selector": {"matchLabels": APP}, "template": TEMPLATE}}}


@dataclass(frozen=True, slots=True)
class Step:
    """One request: create, replace, merge, strategic, json, apply, force, delete or read of the object `name`.

    `manager`: who says so in an apply.
    """

    verb: str
    name: str
    body: Json
    manager: str = "one"


async def play(server: Server, number: int, kind: str, steps: list[Step]) -> Any:
    """The normalised answers of all steps and the events a watch saw, from a namespace of its own.

    `kind`: ConfigMap, Deployment, or Widget for the checks' custom resource.
    """
    t, namespace = Check(server, "differential"), f"{server.namespace}-{number}"
    await t.post("/api/v1/namespaces", {"metadata": {"name": namespace}}, quiet=True)
    version, plural = {
        "ConfigMap": ("v1", "configmaps"),
        "Deployment": ("apps/v1", "deployments"),
        "Widget": (f"{server.group}/v1", "widgets"),
    }[kind]
    root = "/api/v1" if kind == "ConfigMap" else f"/apis/{version}"
    place = f"{root}/namespaces/{namespace}/{plural}"
    typed = {"apiVersion": version, "kind": kind}
    started = (await t.get(place, quiet=True)).meta["resourceVersion"]
    answers = [_shown(await _ask(t, place, typed, step)) for step in steps]
    last = await t.post(place, {**typed, **END.get(kind, {}), "metadata": {"name": "zz-last"}}, quiet=True)
    assert last.status == 201
    seen, _ = await t.watch(place, until=_last, resourceVersion=started, timeoutSeconds=10)
    both = {"answers": answers, "events": [event for event in seen if not _last([event])]}
    return _steady(json.loads(json.dumps(Normaliser(server)(both))))


def _steady(value: Any) -> Any:
    """Owners in an order that does not hang on whether a second was over between two writes."""
    if isinstance(value, list):
        return [_steady(item) for item in value]
    if not isinstance(value, dict):
        return value
    steady = {key: _steady(part) for key, part in value.items()}
    for entry in (owners := steady.get("managedFields", [])):
        entry.pop("time", None)
    owners.sort(key=lambda entry: (entry["operation"], entry["manager"], entry.get("subresource", "")))
    return steady


def _last(events: list[Any]) -> bool:
    return bool(events) and events[-1]["object"].get("metadata", {}).get("name") == "zz-last"


async def _ask(t: Check, place: str, typed: Json, step: Step) -> Answer:
    path = f"{place}/{step.name}"
    body = {**typed, **step.body, "metadata": {**step.body.get("metadata", {}), "name": step.name}}
    match step.verb:
        case "create":
            return await t.post(place, body)
        case "replace":
            return await t.put(path, body)
        case "merge":
            return await t.patch(path, step.body, MERGE)
        case "strategic":
            return await t.patch(path, step.body, STRATEGIC)
        case "json":
            rows = [
                {"op": "add", "path": f"/{key}", "value": value}
                for key, value in step.body.items()
                if key != "metadata"
            ]
            return await t.patch(path, rows, JSON_PATCH)
        case "apply" | "force":
            force = {"force": "true"} if step.verb == "force" else {}
            return await t.patch(path, body, APPLY, fieldManager=step.manager, **force)
        case "delete":
            return await t.delete(path)
        case _:
            return await t.get(path)


def _shown(answer: Answer) -> Json:
    return {"status": answer.status, "body": answer.body}
