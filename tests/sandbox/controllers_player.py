"""One pod and its kubelet, played through time without a server: for the tests of scripts and statuses."""

from typing import Any

from sandbox.controllers.afflictions import Afflictions
from sandbox.controllers.nodes import HOST_DRIVER
from sandbox.controllers.pod_status import render
from sandbox.controllers.pod_troubles import troubles_of
from sandbox.controllers.progress import Circumstances, Progress, advance
from sandbox.controllers.scripts import Gate, script_of

Json = dict[str, Any]

SECONDS = {"pod_start": 6.0, "driver": 170.0, "toolkit": 15.0, "plugin": 15.0, "validator": 30.0, "dcgm": 45.0}


def make_pod(app: str, inits: tuple[str, ...], main: str, **spec: Any) -> Json:
    labels = {"app": app}
    if app == "nvidia-driver-daemonset":
        labels["app.kubernetes.io/component"] = "nvidia-driver"
    return {
        "metadata": {"name": f"{app}-x", "namespace": "ns", "uid": app, "labels": labels},
        "spec": {
            "nodeName": "10.0.0.1",
            "initContainers": [{"name": name, "image": f"r/{name}:1"} for name in inits],
            "containers": [{"name": main, "image": f"r/{main}:1"}],
            **spec,
        },
        "status": {},
    }


def make_node(*, host_driver: bool = False, gpus: str = "") -> Json:
    annotations = {HOST_DRIVER: "true"} if host_driver else {}
    capacity = {"nvidia.com/gpu": gpus} if gpus else {}
    return {
        "metadata": {"name": "10.0.0.1", "annotations": annotations, "labels": {}},
        "status": {"capacity": capacity},
    }


class Kubelet:
    """Plays one pod through time."""

    def __init__(self, pod: Json, node: Json | None = None, afflictions: Afflictions | None = None) -> None:
        self.pod, self.node = pod, node or make_node()
        self.afflictions = afflictions or Afflictions()
        self.progress = Progress()

    def at(self, now: float, *gates: Gate) -> float | None:
        """Advance to `now` and write the status; the next moment, if there is one."""
        case = self.case(now, *gates)
        wake = advance(self.progress, case)
        status = render(self.pod, self.progress, case, "172.17.0.9")
        known = {row["type"]: row for row in self.pod["status"].get("conditions", [])}
        merged = {**known, **{row["type"]: row for row in status["conditions"]}}
        self.pod["status"] = {**self.pod["status"], **status, "conditions": list(merged.values())}
        return wake

    def case(self, now: float, *gates: Gate) -> Circumstances:
        script = script_of(self.pod, self.node, SECONDS.__getitem__, 1.0)
        troubles = troubles_of(self.pod, self.node, self.afflictions, 1.0)
        restarts = self.pod["spec"].get("restartPolicy", "Always") != "Never"
        return Circumstances(script, frozenset(gates), troubles, now, 1.0, restarts)

    def ready(self) -> bool:
        return any(row["type"] == "Ready" and row["status"] == "True" for row in self.pod["status"]["conditions"])

    def state(self, kind: str = "containerStatuses") -> list[str]:
        rows = self.pod["status"][kind]
        return [next(iter(row["state"].values())).get("reason") or next(iter(row["state"])) for row in rows]
