"""What a Pod object says, read in one place: requests, readiness, owner, end. Pure."""

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal

from sandbox.controllers.quantities import quantity
from sandbox.kubernetes_client import Json

Amounts = dict[str, Decimal]

FINISHED = ("Succeeded", "Failed")
SYSTEM_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


def node_name(pod: Json) -> str:
    return str(pod["spec"].get("nodeName") or "")


def phase(pod: Json) -> str:
    return str((pod.get("status") or {}).get("phase") or "Pending")


def finished(pod: Json) -> bool:
    return phase(pod) in FINISHED


def deleting(item: Json) -> bool:
    return bool(item["metadata"].get("deletionTimestamp"))


def active(pod: Json) -> bool:
    """Whether a controller still counts on the pod."""
    return not finished(pod) and not deleting(pod)


def condition(item: Json, kind: str) -> Json | None:
    """A condition of any object, by type."""
    rows = (item.get("status") or {}).get("conditions") or ()
    return next((row for row in rows if row.get("type") == kind), None)


def condition_true(item: Json, kind: str) -> bool:
    row = condition(item, kind)
    return row is not None and row.get("status") == "True"


def ready(pod: Json) -> bool:
    return phase(pod) == "Running" and condition_true(pod, "Ready")


def priority(pod: Json) -> int:
    """The pod's priority; for system classes also where no admission has written it."""
    written = pod["spec"].get("priority")
    return int(written) if written is not None else SYSTEM_PRIORITIES.get(pod["spec"].get("priorityClassName", ""), 0)


def controller_uid(item: Json) -> str:
    """The uid of the controlling owner; "" for a bare object."""
    owners = item["metadata"].get("ownerReferences") or ()
    return next((str(one["uid"]) for one in owners if one.get("controller")), "")


def owned(items: Iterable[Json], owner: Json) -> list[Json]:
    """The objects that `owner` controls."""
    return [item for item in items if controller_uid(item) == owner["metadata"]["uid"]]


def tolerations(pod_spec: Json) -> tuple[Json, ...]:
    return tuple(pod_spec.get("tolerations") or ())


def requests(pod: Json) -> Amounts:
    """What the pod takes from a node: the larger of its containers' sum and its greediest init container, plus
    overhead. Sidecars (restartable init containers) count to the sum. A limit alone is a request, too.
    """
    spec = pod["spec"]
    total: Amounts = defaultdict(Decimal)
    peak: Amounts = defaultdict(Decimal)
    for container in spec.get("containers") or ():
        _add(total, _container_requests(container))
    for container in spec.get("initContainers") or ():
        wanted = _container_requests(container)
        if container.get("restartPolicy") == "Always":
            _add(total, wanted)
        for name, amount in wanted.items():
            peak[name] = max(peak[name], amount)
    for name, amount in peak.items():
        total[name] = max(total[name], amount)
    _add(total, {name: quantity(amount) for name, amount in (spec.get("overhead") or {}).items()})
    return {name: amount for name, amount in total.items() if amount}


def together(some: Iterable[Json]) -> Amounts:
    """What several pods take together."""
    total: Amounts = {}
    for pod in some:
        _add(total, requests(pod))
    return total


def host_ports(pod: Json) -> frozenset[tuple[str, int]]:
    """Protocol and number of each port of the host that the pod takes."""
    shared = bool(pod["spec"].get("hostNetwork"))
    ports = [port for container in pod["spec"].get("containers") or () for port in container.get("ports") or ()]
    numbers = [(port, port.get("hostPort") or (port["containerPort"] if shared else 0)) for port in ports]
    return frozenset((port.get("protocol", "TCP"), int(number)) for port, number in numbers if number)


def _container_requests(container: Json) -> Amounts:
    resources = container.get("resources") or {}
    written = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {name: quantity(amount) for name, amount in written.items()}


def _add(total: Amounts, more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, Decimal(0)) + amount
