"""A pod's progress as the PodStatus its kubelet would write. Pure; forms and reasons are those of a real kubelet."""

from datetime import UTC, datetime

from sandbox.controllers.pods import condition
from sandbox.controllers.progress import FIRST_BACKOFF, SANDBOX, Circumstances, Progress
from sandbox.kubernetes_client import Json

CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")
LONG_AGO = "1970-01-01T00:00:00Z"


def render(pod: Json, progress: Progress, case: Circumstances, address: str) -> Json:
    """The status of a pod whose kubelet is at work; times that are known already are kept."""
    inits = pod["spec"].get("initContainers") or []
    mains = pod["spec"]["containers"]
    at_main = progress.stage >= len(inits)
    status: Json = {
        "phase": _phase(progress, at_main=at_main, inits=len(inits)),
        "startTime": (pod.get("status") or {}).get("startTime") or _stamp(),
        "containerStatuses": [_main_status(pod, one, progress, case) for one in mains],
        "conditions": _conditions(pod, progress, len(inits)),
    }
    if inits:
        status["initContainerStatuses"] = [
            _init_status(pod, one, index, (progress, case)) for index, one in enumerate(inits)
        ]
    if progress.stage != SANDBOX:
        status |= {"podIP": address, "podIPs": [{"ip": address}], "hostIP": pod["spec"]["nodeName"]}
    return status


def rejected(pod: Json, resource: str, amounts: tuple[object, object, object]) -> Json:
    """The status of a pod that its kubelet refuses. `amounts`: requested, used, capacity."""
    requested, used, capacity = amounts
    lack = f"{resource}, requested: {requested}, used: {used}, capacity: {capacity}"
    return {
        "phase": "Failed",
        "reason": f"OutOf{resource}",
        "message": f"Pod was rejected: Node didn't have enough resource: {lack}",
        "startTime": (pod.get("status") or {}).get("startTime") or _stamp(),
    }


def stopped(pod: Json) -> Json:
    """The status of a pod whose containers were told to stop: they leave with SIGTERM's exit code."""
    at = _stamp()
    state = {"terminated": {"exitCode": 143, "reason": "Error", "startedAt": at, "finishedAt": at}}
    rows = (pod.get("status") or {}).get("containerStatuses") or ()
    gone = [{**row, "ready": False, "started": False, "state": state} for row in rows]
    conditions = [_condition(pod, kind, holds=False) for kind in ("Ready", "ContainersReady")]
    return {"phase": "Failed", "containerStatuses": gone, "conditions": conditions}


def differs(wanted: Json, have: Json) -> bool:
    """Whether a written status would change anything but times."""
    for key, value in wanted.items():
        if key == "conditions":
            known = {row["type"]: _timeless(row) for row in have.get("conditions") or ()}
            if any(known.get(row["type"]) != _timeless(row) for row in value):
                return True
        elif _timeless(value) != _timeless(have.get(key)):
            return True
    return False


def _phase(progress: Progress, *, at_main: bool, inits: int) -> str:
    if progress.failed:
        return "Failed"
    if progress.ended:
        return "Succeeded"
    begun = progress.running or progress.restarts[inits] > 0
    return "Running" if at_main and begun else "Pending"


def _init_status(pod: Json, container: Json, index: int, course: tuple[Progress, Circumstances]) -> Json:
    progress, case = course
    row = _row(pod, container, "initContainerStatuses")
    row["restartCount"] = progress.restarts[index]
    if index < progress.stage:
        return row | {"ready": True, "started": False, "state": _terminated(row, 0, "Completed")}
    if index > progress.stage:
        return row | {"ready": False, "started": False, "state": _waiting("PodInitializing")}
    return row | {"ready": False, "started": progress.running, **_current(row, container, progress, case)}


def _main_status(pod: Json, container: Json, progress: Progress, case: Circumstances) -> Json:
    inits = len(pod["spec"].get("initContainers") or ())
    row = _row(pod, container, "containerStatuses")
    row["restartCount"] = progress.restarts[inits]
    is_ready = progress.ready_since is not None and progress.running
    row |= {"ready": is_ready, "started": is_ready}
    if progress.ended:
        return row | {"state": _terminated(row, 0, "Completed")}
    if progress.stage < inits or progress.stage == SANDBOX:
        return row | {"state": _waiting("PodInitializing" if inits else "ContainerCreating")}
    return row | _current(row, container, progress, case)


def _current(row: Json, container: Json, progress: Progress, case: Circumstances) -> Json:
    """State (and last state) of a container of the stage that is going on."""
    last = {}
    if progress.last is not None and progress.restarts[progress.stage]:
        last = {"lastState": _terminated(row, progress.last.code, "Error", progress.last.message)}
    if progress.failed and progress.last is not None:
        return {"state": _terminated(row, progress.last.code, "Error", progress.last.message)}
    if progress.running:
        known = row.get("state", {}).get("running", {}).get("startedAt")
        return {"state": {"running": {"startedAt": known or _stamp()}}, **last}
    if progress.pulling_since is not None:
        return {"state": _unpulled(container, progress, case), **last}
    if progress.restarts[progress.stage]:
        pause = min(300, int(FIRST_BACKOFF * 2 ** (progress.restarts[progress.stage] - 1)))
        text = f"back-off {_minutes(pause)} restarting failed container={container['name']}"
        return {"state": _waiting("CrashLoopBackOff", text), **last}
    return {"state": _waiting("ContainerCreating")}


def _unpulled(container: Json, progress: Progress, case: Circumstances) -> Json:
    image, text = container.get("image", ""), case.troubles.image(progress.stage)
    assert progress.pulling_since is not None
    if case.now < progress.pulling_since + FIRST_BACKOFF / case.speed:
        return _waiting("ErrImagePull", text)
    return _waiting("ImagePullBackOff", f'Back-off pulling image "{image}": ErrImagePull: {text}')


def _conditions(pod: Json, progress: Progress, inits: int) -> list[Json]:
    unready = [one["name"] for one in pod["spec"]["containers"]]
    waiting = [one["name"] for one in (pod["spec"].get("initContainers") or ())[max(0, progress.stage) :]]
    is_ready = progress.ready_since is not None and progress.running
    why = ("ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]")
    if progress.ended:
        why = ("PodCompleted", "")
    late = ("ContainersNotInitialized", f"containers with incomplete status: [{' '.join(waiting)}]")
    rows = [
        _condition(pod, "PodReadyToStartContainers", holds=progress.stage != SANDBOX and not progress.ended),
        _condition(pod, "Initialized", late, holds=not inits or progress.stage >= inits),
        _condition(pod, "Ready", why, holds=is_ready),
        _condition(pod, "ContainersReady", why, holds=is_ready),
    ]
    if condition(pod, "PodScheduled") is None:
        rows.append(_condition(pod, "PodScheduled", holds=True))
    return rows


def _condition(pod: Json, kind: str, why: tuple[str, str] = ("", ""), *, holds: bool) -> Json:
    status = "True" if holds else "False"
    known = condition(pod, kind) or {}
    same = known.get("status") == status
    row: Json = {
        "type": kind,
        "status": status,
        "lastProbeTime": None,
        "lastTransitionTime": known["lastTransitionTime"] if same else _stamp(),
    }
    if not holds and why[0]:
        return row | {"reason": why[0], "message": why[1]}
    return row | {"reason": None, "message": None} if "reason" in known else row


def _row(pod: Json, container: Json, kind: str) -> Json:
    known = (pod.get("status") or {}).get(kind) or ()
    row: Json = dict(next((one for one in known if one["name"] == container["name"]), {}))
    row.pop("lastState", None)
    image = container.get("image", "")
    return row | {"name": container["name"], "image": image, "imageID": image}


def _terminated(row: Json, code: int, reason: str, message: str = "") -> Json:
    known = row.get("state", {})
    if "terminated" in known and known["terminated"].get("exitCode") == code:
        return {"terminated": known["terminated"]}
    started = known.get("running", {}).get("startedAt") or _stamp()
    end: Json = {"exitCode": code, "reason": reason, "startedAt": started, "finishedAt": _stamp()}
    return {"terminated": end | ({"message": message} if message else {})}


def _waiting(reason: str, message: str = "") -> Json:
    return {"waiting": {"reason": reason} | ({"message": message} if message else {})}


def _minutes(seconds: int) -> str:
    return f"{seconds // 60}m{seconds % 60}s" if seconds >= 60 else f"{seconds}s"


def _timeless(value: object) -> object:
    """The value without times and without empty parts."""
    match value:
        case dict():
            rows = {key: _timeless(part) for key, part in value.items() if not key.endswith(("At", "Time"))}
            return {key: part for key, part in rows.items() if part not in (None, "", {}, [])}
        case list():
            return [_timeless(part) for part in value]
    return value


def _stamp() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
