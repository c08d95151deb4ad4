"""The custom resource definitions that the chart brings, made from a table of what the real ones declare.

Schemas are structural but shallow: the keys of a spec are known, so that a misspelt one is refused as in life; what
is below them is taken as it comes.
"""

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

POLICY_PARTS = (
    "ccManager cdi daemonsets dcgm dcgmExporter devicePlugin driver gdrcopy gds gfd hostPaths kataManager "
    "kataSandboxDevicePlugin mig migManager nodeStatusExporter operator psa psp sandboxDevicePlugin sandboxWorkloads "
    "toolkit validator vfioManager vgpuDeviceManager vgpuManager"
)
POLICY_REQUIRED = "daemonsets dcgm dcgmExporter devicePlugin driver gfd nodeStatusExporter operator toolkit"
STATUS_COLUMN: Json = {"name": "Status", "type": "string", "jsonPath": ".status.state"}
AGE_COLUMN: Json = {"name": "Age", "type": "string", "jsonPath": ".metadata.creationTimestamp"}
OPEN: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@dataclass(frozen=True, slots=True)
class Definition:
    """One custom resource. `parts`: keys of its spec, none for an open spec; `states`: of its status."""

    group: str
    kind: str
    plural: str
    version: str
    namespaced: bool = False
    parts: str = ""
    required: str = ""
    states: tuple[str, ...] = ()
    has_status: bool = True
    short: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.plural}.{self.group}"


CLUSTER_POLICY = Definition(
    "nvidia.com",
    "ClusterPolicy",
    "clusterpolicies",
    "v1",
    parts=POLICY_PARTS,
    required=POLICY_REQUIRED,
    states=("ignored", "ready", "notReady"),
)
NVIDIA_DRIVER = Definition(
    "nvidia.com",
    "NVIDIADriver",
    "nvidiadrivers",
    "v1alpha1",
    states=("ignored", "ready", "notReady", "disabled"),
    short=("nvd", "nvdriver", "nvdrivers"),
)
GPU_CLUSTER = Definition(
    "nvidia.com", "GPUCluster", "gpuclusters", "v1alpha1", states=("ready", "notReady", "disabled"), short=("gc",)
)
DOMAINS = (
    Definition("resource.nvidia.com", "ComputeDomain", "computedomains", "v1beta1", namespaced=True),
    Definition("resource.nvidia.com", "ComputeDomainClique", "computedomaincliques", "v1beta1", True, has_status=False),
)
_NFD = "nfd.k8s-sigs.io"
NFD_DEFINITIONS = (
    Definition(_NFD, "NodeFeature", "nodefeatures", "v1alpha1", True, parts="features labels", has_status=False),
    Definition(_NFD, "NodeFeatureGroup", "nodefeaturegroups", "v1alpha1", True, short=("nfg",)),
    Definition(_NFD, "NodeFeatureRule", "nodefeaturerules", "v1alpha1", has_status=False, short=("nfr",)),
)


def manifest(one: Definition) -> Json:
    """The CustomResourceDefinition object."""
    version: Json = {
        "name": one.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _schema(one)},
        "additionalPrinterColumns": [STATUS_COLUMN, AGE_COLUMN] if one.states else [AGE_COLUMN],
    }
    if one.has_status:
        version["subresources"] = {"status": {}}
    names: Json = {
        "kind": one.kind,
        "listKind": f"{one.kind}List",
        "plural": one.plural,
        "singular": one.kind.lower(),
    }
    if one.short:
        names["shortNames"] = list(one.short)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": one.name},
        "spec": {
            "group": one.group,
            "names": names,
            "scope": "Namespaced" if one.namespaced else "Cluster",
            "versions": [version],
        },
    }


def _schema(one: Definition) -> Json:
    spec: Json = OPEN
    if one.parts:
        spec = {"type": "object", "properties": dict.fromkeys(one.parts.split(), OPEN)}
    if one.required:
        spec = {**spec, "required": one.required.split()}
    properties: Json = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": spec,
    }
    if one.has_status:
        properties["status"] = _status(one)
    return {"type": "object", "properties": properties}


def _status(one: Definition) -> Json:
    if not one.states:
        return OPEN
    return {
        "type": "object",
        "required": ["state"],
        "properties": {
            "state": {"type": "string", "enum": list(one.states)},
            "namespace": {"type": "string"},
            "conditions": {"type": "array", "items": OPEN},
        },
    }
