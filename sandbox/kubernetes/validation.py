"""What a real server refuses with 422: names, labels, finalizers, pods, workloads, taints.

Returns causes, never raises: the caller knows kind and name for the Status. Only rules that this project's clients can
run into are here; a body that passes may still be refused by a real server.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from sandbox.kubernetes import definitions
from sandbox.kubernetes.quantities import parse
from sandbox.kubernetes.selectors import label_selector_matches
from sandbox.kubernetes.statuses import Cause, bad_value, duplicate, forbidden_field, required, unsupported

Obj = dict[str, Any]

LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"{LABEL}(\.{LABEL})*"
SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
QUALIFIED = r"([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]"
KEY_TEXT = (
    "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)
VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
FREE_NAMES = frozenset({"roles", "clusterroles", "rolebindings", "clusterrolebindings", "events"})
VOLUME_SOURCES = (
    "emptyDir",
    "hostPath",
    "secret",
    "nfs",
    "persistentVolumeClaim",
    "downwardAPI",
    "configMap",
    "projected",
    "csi",
    "ephemeral",
    "image",
)  # in the order in which a real server looks
LABEL_NAMES = frozenset({"namespaces", "services"})


def quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def metadata(meta: Obj, plural: str) -> list[Cause]:
    """Faults of a new object's metadata."""
    name = meta.get("name", "")
    causes = []
    if not name:
        return [required("metadata.name", "name or generateName is required")]
    if plural in LABEL_NAMES:
        if not re.fullmatch(LABEL, name) or len(name) > 63:
            causes.append(bad_value("metadata.name", quoted(name), LABEL_TEXT))
    elif plural not in FREE_NAMES and (not re.fullmatch(SUBDOMAIN, name) or len(name) > 253):
        causes.append(bad_value("metadata.name", quoted(name), SUBDOMAIN_TEXT))
    return causes + labels(meta)


def labels(meta: Obj) -> list[Cause]:
    """Faults of labels and of annotation keys."""
    causes = []
    for key, value in (meta.get("labels") or {}).items():
        if not _key_fits(key):
            causes.append(bad_value("metadata.labels", quoted(key), KEY_TEXT))
        if not re.fullmatch(rf"({QUALIFIED})?", value):
            causes.append(bad_value("metadata.labels", quoted(value), VALUE_TEXT))
    text = KEY_TEXT.replace("label key", "annotation key")
    strange = [key for key in meta.get("annotations") or () if not _key_fits(key.lower())]
    return causes + [bad_value("metadata.annotations", quoted(key), text) for key in strange]


def _key_fits(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and not re.fullmatch(SUBDOMAIN, prefix):
        return False
    return re.fullmatch(QUALIFIED, name) is not None


def metadata_update(old: Obj, new: Obj) -> list[Cause]:
    """Faults of changed metadata; each is reported twice, as the real server's two passes do."""
    causes = labels(new)
    if new.get("uid") != old.get("uid"):
        causes += [bad_value("metadata.uid", quoted(new.get("uid")), "field is immutable")] * 2
    fresh = [f for f in new.get("finalizers") or () if f not in (old.get("finalizers") or ())]
    if old.get("deletionTimestamp") and fresh:
        found = "[]string{" + ", ".join(quoted(f) for f in fresh) + "}"
        text = f"no new finalizers can be added if the object is being deleted, found new finalizers {found}"
        causes += [forbidden_field("metadata.finalizers", text)] * 2
    return causes


# ------------------------------------------------------------------ pods


def pod_spec(spec: Obj, at: str) -> Iterator[Cause]:
    """Faults of a pod's or template's spec."""
    for number, volume in enumerate(spec.get("volumes") or ()):
        for source in [name for name in VOLUME_SOURCES if volume.get(name) is not None][1:]:
            yield forbidden_field(f"{at}.volumes[{number}].{source}", "may not specify more than 1 volume type")
    containers = spec.get("containers") or []
    if not containers:
        yield required(f"{at}.containers")
    seen: set[str] = set()
    for number, container in enumerate(containers):
        yield from _container(container, f"{at}.containers[{number}]", seen)
    if spec.get("restartPolicy") not in ("Always", "OnFailure", "Never"):
        shown = quoted(spec.get("restartPolicy"))
        yield unsupported(f"{at}.restartPolicy", shown, ("Always", "OnFailure", "Never"))


def _container(container: Obj, at: str, seen: set[str]) -> Iterator[Cause]:
    name = container.get("name", "")
    if not name:
        yield required(f"{at}.name")
    elif name in seen:
        yield duplicate(f"{at}.name", quoted(name))
    elif not re.fullmatch(LABEL, name) or len(name) > 63:
        yield bad_value(f"{at}.name", quoted(name), LABEL_TEXT)
    seen.add(name)
    if not container.get("image"):
        yield required(f"{at}.image")
    yield from _resources(container.get("resources") or {}, f"{at}.resources")


def _resources(resources: Obj, at: str) -> Iterator[Cause]:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for section, rows in (("limits", limits), ("requests", requests)):
        for name, value in rows.items():
            if _extended(name) and not _whole(value):
                yield bad_value(f"{at}.{section}[{name}]", quoted(value), "must be an integer")
    for name, value in requests.items():
        if not _extended(name) or not _whole(value):
            continue
        if name not in limits:
            yield required(f"{at}.limits", "Limit must be set for non overcommitable resources")
        elif limits[name] != value:
            yield bad_value(f"{at}.requests", quoted(value), f"must be equal to {name} limit of {limits[name]}")


def _extended(name: str) -> bool:
    return "/" in name and not name.partition("/")[0].endswith("kubernetes.io")


def _whole(value: str) -> bool:
    try:
        return parse(value)[0].denominator == 1
    except ValueError:
        return False


def _pod(obj: Obj) -> Iterator[Cause]:
    yield from pod_spec(obj["spec"], "spec")


def _workload(obj: Obj) -> Iterator[Cause]:
    spec = obj["spec"]
    labels_of_template = spec["template"].get("metadata", {}).get("labels") or {}
    if not spec.get("selector"):
        yield required("spec.selector")
    elif not label_selector_matches(spec["selector"], labels_of_template):
        shown = json.dumps(labels_of_template, separators=(",", ":"))
        yield bad_value("spec.template.metadata.labels", shown, "`selector` does not match template `labels`")
    yield from pod_spec(spec["template"]["spec"], "spec.template.spec")


def _deployment(obj: Obj) -> Iterator[Cause]:
    yield from _workload(obj)
    strategy = obj["spec"].get("strategy") or {}
    if strategy.get("type") == "Recreate" and "rollingUpdate" in strategy:
        text = "may not be specified when strategy `type` is 'Recreate'"
        yield forbidden_field("spec.strategy.rollingUpdate", text)


def _job(obj: Obj) -> Iterator[Cause]:
    template = obj["spec"]["template"]["spec"]
    if template.get("restartPolicy") == "Always":
        yield unsupported("spec.template.spec.restartPolicy", '"Always"', ("OnFailure", "Never"))
    yield from pod_spec(template, "spec.template.spec")


def _node(obj: Obj) -> Iterator[Cause]:
    seen: set[tuple[str, str]] = set()
    for number, taint in enumerate(obj.get("spec", {}).get("taints") or ()):
        at = f"metadata.taints[{number}]"
        if not taint.get("key"):
            yield required(f"{at}.key")
        if not taint.get("effect"):
            yield required(f"{at}.effect")
            continue
        if taint["effect"] not in ("NoSchedule", "PreferNoSchedule", "NoExecute"):
            allowed = ("NoSchedule", "PreferNoSchedule", "NoExecute")
            yield unsupported(f"{at}.effect", quoted(taint["effect"]), allowed)
        pair = (taint.get("key", ""), taint["effect"])
        if pair in seen:
            go = {"Key": pair[0], "Value": taint.get("value", ""), "Effect": pair[1], "TimeAdded": None}
            shown = json.dumps(go, separators=(",", ":"))
            yield duplicate(at, f"{shown}: taints must be unique by key and effect pair")
        seen.add(pair)


def _budget(obj: Obj) -> Iterator[Cause]:
    spec = obj["spec"]
    if "minAvailable" in spec and "maxUnavailable" in spec:
        yield bad_value("spec", quoted(spec), "minAvailable and maxUnavailable cannot be both set")


BY_KIND: dict[tuple[str, str], Callable[[Obj], Iterator[Cause]]] = {
    ("", "Pod"): _pod,
    ("", "Node"): _node,
    ("apps", "Deployment"): _deployment,
    ("apps", "DaemonSet"): _workload,
    ("apps", "StatefulSet"): _workload,
    ("apps", "ReplicaSet"): _workload,
    ("batch", "Job"): _job,
    ("policy", "PodDisruptionBudget"): _budget,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): definitions.faults,
}


def by_kind(group: str, kind: str, obj: Obj) -> list[Cause]:
    """Faults of a built-in object beside its metadata."""
    check = BY_KIND.get((group, kind))
    return list(check(obj)) if check else []
