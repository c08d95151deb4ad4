"""What afflicts a pod, and the events its kubelet records about it. Pure."""

from collections.abc import Iterator

from sandbox.controllers.afflictions import Afflictions, Kind
from sandbox.controllers.progress import SANDBOX, Circumstances, Progress, Troubles
from sandbox.controllers.scripts import Crash, Gate
from sandbox.kubernetes_client import Json

CRASHES_AFTER = 5.0  # seconds as in life
NO_REGISTRY = 'failed to pull and unpack image "{image}": dial tcp 203.0.113.9:443: i/o timeout'
NO_RUNTIME = (
    "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: "
    'no runtime for "nvidia" is configured'
)
NO_SANDBOX = "Failed to create pod sandbox: rpc error: code = DeadlineExceeded desc = context deadline exceeded"


def troubles_of(pod: Json, node: Json, afflictions: Afflictions, speed: float) -> Troubles:
    """The afflictions that hit the pod now, by stage."""

    def image(stage: int) -> str:
        for container in _at(pod, stage):
            found = afflictions.on_container(Kind.IMAGE_PULL, node, pod, container)
            if found is not None:
                return (found.message or NO_REGISTRY).replace("{image}", container.get("image", ""))
        return ""

    def crash(stage: int) -> Crash | None:
        for container in _at(pod, stage):
            found = afflictions.on_container(Kind.CRASH_LOOP, node, pod, container)
            if found is not None:
                return Crash(CRASHES_AFTER / speed, found.number or 1, found.message)
        return None

    mains = pod["spec"]["containers"]
    return Troubles(
        image,
        crash,
        never_starts=afflictions.on_pod(Kind.NEVER_STARTS, node, pod) is not None,
        not_ready=any(afflictions.on_container(Kind.NOT_READY, node, pod, one) for one in mains),
    )


def complaints(pod: Json, progress: Progress, case: Circumstances) -> Iterator[tuple[str, str, str]]:
    """Type, reason and message of what the kubelet has to say about the pod's stage."""
    if progress.stage == SANDBOX:
        yield from _sandbox(case)
        return
    for container in _at(pod, progress.stage):
        image = container.get("image", "")
        if progress.pulling_since is not None:
            text = case.troubles.image(progress.stage)
            yield "Warning", "Failed", f'Failed to pull image "{image}": {text}'
            yield "Warning", "Failed", "Error: ErrImagePull"
            yield "Normal", "BackOff", f'Back-off pulling image "{image}"'
        elif progress.restarts[progress.stage] and not progress.running:
            where = f"{container['name']} in pod {pod['metadata']['name']}_{pod['metadata'].get('namespace', '')}"
            yield "Warning", "BackOff", f"Back-off restarting failed container {where}({pod['metadata']['uid']})"


def _sandbox(case: Circumstances) -> Iterator[tuple[str, str, str]]:
    gate = case.script.sandbox.gate
    if case.troubles.never_starts:
        yield "Warning", "FailedCreatePodSandBox", NO_SANDBOX
    elif gate is Gate.RUNTIME and gate not in case.gates:
        yield "Warning", "FailedCreatePodSandBox", NO_RUNTIME


def _at(pod: Json, stage: int) -> list[Json]:
    inits = pod["spec"].get("initContainers") or []
    return [inits[stage]] if 0 <= stage < len(inits) else list(pod["spec"]["containers"])
