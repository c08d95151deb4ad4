"""Endpoints that hand out kubeconfigs (reference of the IKS API, section 1.8).

Without admin the file carries an IAM token of about an hour for the user `IAM#<subject>`, in the OIDC form IBM uses;
with admin one that does not end.
"""

import base64
import io
import json
import zipfile
from typing import Any

import yaml

from sandbox.iks.calls import Answer, Call, Route
from sandbox.iks.model import Cluster
from sandbox.iks.ports import Access
from sandbox.iks.refusals import bad_request

ENDPOINTS = ("", "public", "private", "vpe", "link")
FOREVER = 10 * 365 * 24 * 3600.0


def _apply_and_get(call: Call) -> Answer:
    """Hand out the file of a POST, whose default is a zip; the caller's roles count from now on."""
    return _file(call, "zip")


def _get(call: Call) -> Answer:
    return _file(call, "json")


def _get_v1(call: Call) -> Answer:
    return _file(call, "zip", admin=call.params.get("kind") == "admin")


def _file(call: Call, default: str, *, admin: bool = False) -> Answer:
    cluster = call.cluster()
    if call.text("endpointType") not in ENDPOINTS:
        raise bad_request(f"The endpoint type {call.text('endpointType')!r} is not supported.")
    admin = admin or call.flag("admin")
    user = "admin" if admin else f"IAM#{call.actor}"
    life = FOREVER if admin else call.cloud.token_life
    access = call.cloud.side(cluster).access(user, life, admin=admin)
    config = kubeconfig(cluster, access, user, admin=admin)
    effect = {"user": user, "life": life}
    match call.text("format") or default:
        case "yaml":
            body: Any = yaml.safe_dump(config, sort_keys=False)
        case "json":
            body = config
        case "zip":
            body = _zip(cluster, config, access.ca)
        case other:
            raise bad_request(f"The format {other!r} is not supported.")
    return Answer(200, body, cluster.name, cluster.id, effect)


def kubeconfig(cluster: Cluster, access: Access, user: str, *, admin: bool) -> dict[str, Any]:
    """Build the file's content."""
    server: dict[str, Any] = {"server": access.url}
    if access.ca:
        server["certificate-authority-data"] = base64.b64encode(access.ca.encode()).decode()
    context = f"{cluster.name}/{cluster.id}{'/admin' if admin else ''}"
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "clusters": [{"name": f"{cluster.name}/{cluster.id}", "cluster": server}],
        "contexts": [
            {
                "name": context,
                "context": {"cluster": f"{cluster.name}/{cluster.id}", "user": user, "namespace": "default"},
            }
        ],
        "current-context": context,
        "users": [{"name": user, "user": {"token": access.token} if admin else _oidc(access.token)}],
    }


def _oidc(token: str) -> dict[str, Any]:
    config = {
        "client-id": "kube",
        "client-secret": "kube",
        "id-token": token,
        "idp-issuer-url": "https://iam.cloud.ibm.com/identity",
    }
    return {"auth-provider": {"name": "oidc", "config": config}}


def _zip(cluster: Cluster, config: dict[str, Any], ca: str) -> bytes:
    target = io.BytesIO()
    folder = f"kubeConfig{cluster.id}"
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(f"{folder}/kube-config-{cluster.name}.yml", yaml.safe_dump(config, sort_keys=False))
        if ca:
            archive.writestr(f"{folder}/ca-{cluster.name}.pem", ca)
    return target.getvalue()


def _rbac(call: Call) -> Answer:
    call.cluster()
    return Answer(body={"synchronized": True, "error": False})


def as_text(config: dict[str, Any]) -> str:
    """Write a kubeconfig as YAML would read it (JSON is YAML)."""
    return json.dumps(config, indent=1)


ROUTES = (
    Route("POST", "/v2/applyRBACAndGetKubeconfig", _apply_and_get, "applyRBACAndGetKubeconfig"),
    Route("POST", "/v2/applyRBAC", _rbac, "applyRBAC"),
    Route("GET", "/v2/getRBACStatus", _rbac),
    Route("GET", "/v2/getKubeconfig", _get, "getKubeconfig"),
    Route("GET", "/v1/clusters/{cluster}/config", _get_v1, "getKubeconfig"),
    Route("GET", "/v1/clusters/{cluster}/config/{kind}", _get_v1, "getKubeconfig"),
)
