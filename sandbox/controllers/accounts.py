"""The service account `default` of every namespace, which pods of a real cluster can't do without."""

from sandbox.controllers import pods
from sandbox.controllers.desk import Desk
from sandbox.controllers.resources import NAMESPACES, SERVICE_ACCOUNTS


class Accounts:
    """Gives every namespace its default service account."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._namespaces = desk.mirror(NAMESPACES)
        self._accounts = desk.mirror(SERVICE_ACCOUNTS)

    async def reconcile(self) -> float | None:
        """Create what is missing."""
        for namespace in self._namespaces.objects():
            name = namespace["metadata"]["name"]
            if self._accounts.get("default", name) is None and not pods.deleting(namespace):
                meta = {"name": "default", "namespace": name}
                account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}
                await self._desk.create(SERVICE_ACCOUNTS, account)
        return None
