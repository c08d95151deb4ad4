"""Where each resource lives in the API, as values. No requests are made here."""

from dataclasses import dataclass

from sandbox.kubernetes_client import Json


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of one API group. `root`: "/api/v1" or "/apis/GROUP/VERSION"."""

    root: str
    plural: str
    namespaced: bool = True

    @property
    def everywhere(self) -> str:
        """The path that lists the resource in all namespaces."""
        return f"{self.root}/{self.plural}"

    def within(self, namespace: str) -> str:
        """The path of the collection in one namespace (cluster-scoped resources have only one)."""
        if not self.namespaced:
            return self.everywhere
        return f"{self.root}/namespaces/{namespace}/{self.plural}"

    def at(self, item: Json, subresource: str = "") -> str:
        """The path of one object, or of its subresource."""
        meta = item["metadata"]
        path = f"{self.within(meta.get('namespace', ''))}/{meta['name']}"
        return f"{path}/{subresource}" if subresource else path


NODES = Resource("/api/v1", "nodes", namespaced=False)
PODS = Resource("/api/v1", "pods")
NAMESPACES = Resource("/api/v1", "namespaces", namespaced=False)
SERVICE_ACCOUNTS = Resource("/api/v1", "serviceaccounts")
EVENTS = Resource("/api/v1", "events")
CLAIMS = Resource("/api/v1", "persistentvolumeclaims")
VOLUMES = Resource("/api/v1", "persistentvolumes", namespaced=False)
DEPLOYMENTS = Resource("/apis/apps/v1", "deployments")
REPLICA_SETS = Resource("/apis/apps/v1", "replicasets")
DAEMON_SETS = Resource("/apis/apps/v1", "daemonsets")
STATEFUL_SETS = Resource("/apis/apps/v1", "statefulsets")
JOBS = Resource("/apis/batch/v1", "jobs")
BUDGETS = Resource("/apis/policy/v1", "poddisruptionbudgets")
LEASES = Resource("/apis/coordination.k8s.io/v1", "leases")
RUNTIME_CLASSES = Resource("/apis/node.k8s.io/v1", "runtimeclasses", namespaced=False)
STORAGE_CLASSES = Resource("/apis/storage.k8s.io/v1", "storageclasses", namespaced=False)
CLUSTER_POLICIES = Resource("/apis/nvidia.com/v1", "clusterpolicies", namespaced=False)
NODE_FEATURES = Resource("/apis/nfd.k8s-sigs.io/v1alpha1", "nodefeatures")
