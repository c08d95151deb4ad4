"""What may not change once it is there: pod specs, selectors, immutable ConfigMaps, Job templates.

Returns causes like validation does; it compares the stored object with the new one.
"""

import json
from typing import Any

from sandbox.kubernetes.statuses import Cause, bad_value, forbidden_field

Obj = dict[str, Any]

POD_TEXT = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
WITH_SELECTOR = frozenset({"Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "Job"})


def faults(group: str, kind: str, old: Obj, new: Obj) -> list[Cause]:
    """Causes of a 422 for a change that is forbidden."""
    causes = []
    if kind == "Pod" and group == "" and _fixed(old["spec"]) != _fixed(new["spec"]):
        causes.append(forbidden_field("spec", POD_TEXT))
    if kind in ("ConfigMap", "Secret") and old.get("immutable"):
        causes += [
            forbidden_field(name, "field is immutable when `immutable` is set")
            for name in ("immutable", "data", "binaryData")
            if old.get(name) != new.get(name)
        ]
    if kind in WITH_SELECTOR and old["spec"].get("selector") != new["spec"].get("selector"):
        shown = json.dumps(new["spec"].get("selector"), separators=(",", ":"))
        causes.append(bad_value("spec.selector", shown, "field is immutable"))
    if group == "rbac.authorization.k8s.io" and old.get("roleRef") != new.get("roleRef"):
        shown = json.dumps(new.get("roleRef"), separators=(",", ":"))
        causes.append(bad_value("roleRef", shown, "cannot change roleRef"))
    return causes


def _fixed(spec: Obj) -> Obj:
    """A pod spec without what may change."""
    free = ("containers", "initContainers", "activeDeadlineSeconds", "tolerations", "schedulingGates", "nodeSelector")
    kept = {key: value for key, value in spec.items() if key not in free}
    for name in ("containers", "initContainers"):
        kept[name] = [{k: v for k, v in c.items() if k != "image"} for c in spec.get(name) or ()]
    return kept
