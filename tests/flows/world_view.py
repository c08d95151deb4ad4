"""The world as the guide's commands print it: `ibmcloud ks cluster get`, `worker ls` and `kubectl get pods -o wide`.

Workers come from the pretend IKS with an IAM token, pods as the table that the API server hands to kubectl.
"""

import base64
import json
import ssl
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import yaml

from sandbox.endpoints import Endpoints

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
TIMEOUT = 10.0
Rows = list[dict[str, str]]


def view(world: Endpoints, cluster: str) -> dict[str, Any]:
    """Master, workers, operator pods and workload pods of one cluster at this moment."""
    row = _iks(world, f"/v2/getCluster?cluster={cluster}")
    return {
        "master": _master(row),
        "workers": [_worker(one) for one in _iks(world, f"/v2/vpc/getWorkers?cluster={cluster}")],
        "operator": pods(world, cluster, "gpu-operator"),
        "workloads": pods(world, cluster, "default"),
    }


def pods(world: Endpoints, cluster: str, namespace: str) -> Rows:
    """Rows of `kubectl get pods -o wide`, by the columns' names."""
    table = _kubernetes(world, cluster, f"/api/v1/namespaces/{namespace}/pods")
    names = [column["name"].upper() for column in table["columnDefinitions"]]
    return [dict(zip(names, map(str, row["cells"]), strict=True)) for row in table["rows"]]


def _master(row: dict[str, Any]) -> dict[str, str]:
    lifecycle = row["lifecycle"]
    return {
        "Status": lifecycle["masterStatus"],
        "State": lifecycle["masterState"],
        "Health": lifecycle["masterHealth"],
        "Version": row["masterKubeVersion"],
    }


def _worker(row: dict[str, Any]) -> dict[str, str]:
    addresses = [interface["ipAddress"] for interface in row["networkInterfaces"]]
    return {
        "ID": row["id"],
        "Primary IP": "".join(addresses[:1]),
        "Flavor": row["flavor"],
        "State": row["health"]["state"],
        "Status": row["health"]["message"],
        "Zone": row["location"],
        "Version": row["kubeVersion"]["actual"],
        "Operating System": row["lifecycle"]["desiredOperatingSystem"],
        "Lifecycle": row["lifecycle"]["actualState"],
    }


def _iks(world: Endpoints, path: str) -> Any:
    form = {"grant_type": "urn:ibm:params:oauth:grant-type:apikey", "apikey": world.credentials["iam_api_key"]}
    login = urllib.request.Request(f"{world.iam}/identity/token", urllib.parse.urlencode(form).encode())  # noqa: S310
    token = _read(login)["access_token"]
    return _read(urllib.request.Request(world.iks + path, headers={"Authorization": f"Bearer {token}"}))  # noqa: S310


def _kubernetes(world: Endpoints, cluster: str, path: str) -> Any:
    config = yaml.safe_load(Path(world.kubeconfigs[cluster]).read_text())
    server, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    trust = ssl.create_default_context(cadata=base64.b64decode(server["certificate-authority-data"]).decode())
    headers = {"Authorization": f"Bearer {user['token']}", "Accept": TABLE}
    return _read(urllib.request.Request(server["server"] + path, headers=headers), trust)  # noqa: S310


def _read(request: urllib.request.Request, trust: ssl.SSLContext | None = None) -> Any:
    handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
    if trust is not None:
        handlers.append(urllib.request.HTTPSHandler(context=trust))
    with urllib.request.build_opener(*handlers).open(request, timeout=TIMEOUT) as answer:
        return json.loads(answer.read())
