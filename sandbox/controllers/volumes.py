"""What claims and volumes say about where a pod may run. Pure; wording of kube-scheduler v1.36.2."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sandbox.controllers import selectors
from sandbox.kubernetes_client import Json

ZONE_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


@dataclass(frozen=True, slots=True)
class Storage:
    """Claims by "namespace/name", volumes and storage classes by name."""

    claims: Mapping[str, Json] = field(default_factory=dict)
    volumes: Mapping[str, Json] = field(default_factory=dict)
    classes: Mapping[str, Json] = field(default_factory=dict)


def claim_names(pod: Json) -> tuple[str, ...]:
    rows = pod["spec"].get("volumes") or ()
    return tuple(row["persistentVolumeClaim"]["claimName"] for row in rows if "persistentVolumeClaim" in row)


def unusable_claim(pod: Json, storage: Storage) -> str:
    """Why no node at all can take the pod, by its claims; "" when they are all right."""
    namespace = pod["metadata"].get("namespace", "")
    for name in claim_names(pod):
        claim = storage.claims.get(f"{namespace}/{name}")
        if claim is None or claim["metadata"].get("deletionTimestamp"):
            return f'persistentvolumeclaim "{name}" not found'
        if not claim["spec"].get("volumeName") and not _waits_for_consumer(claim, storage):
            return "pod has unbound immediate PersistentVolumeClaims"
    return ""


def conflict(pod: Json, node: Json, storage: Storage) -> str:
    """Why the node can't mount the pod's volumes; "" when it can."""
    labels = node["metadata"].get("labels") or {}
    for claim in _claims(pod, storage):
        volume = storage.volumes.get(claim["spec"].get("volumeName") or "")
        if volume is None:
            return "node(s) didn't find available persistent volumes to bind"
        required = (volume["spec"].get("nodeAffinity") or {}).get("required")
        if required is not None:
            terms = required.get("nodeSelectorTerms") or ()
            if not any(selectors.node_term_matches(term, node) for term in terms):
                return "node(s) didn't match PersistentVolume's node affinity"
        for key in ZONE_LABELS:
            allowed = (volume["metadata"].get("labels") or {}).get(key)
            if allowed is not None and labels.get(key) not in allowed.split("__"):
                return "node(s) had no available volume zone"
    return ""


def _claims(pod: Json, storage: Storage) -> Iterator[Json]:
    namespace = pod["metadata"].get("namespace", "")
    for name in claim_names(pod):
        claim = storage.claims.get(f"{namespace}/{name}")
        if claim is not None:
            yield claim


def _waits_for_consumer(claim: Json, storage: Storage) -> bool:
    storage_class = storage.classes.get(claim["spec"].get("storageClassName") or "")
    return storage_class is not None and storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"
