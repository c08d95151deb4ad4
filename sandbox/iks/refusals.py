"""Answers of IKS and IAM to calls they refuse, in the shape and with the codes IBM uses.

Codes seen in public: G0004, E0008, A0003, A0002, Ef9cc, E1437 (reference of the IKS API). Where no public sample
exists the code is `E0000`, so that nobody learns to match on it.
"""

import uuid
from typing import Any

UNKNOWN_CODE = "E0000"


class Refusal(Exception):  # noqa: N818  it is an answer, not a fault of the server
    """A call that gets no effect: HTTP status and body."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(body.get("description") or body.get("errorMessage") or "refused")
        self.status = status
        self.body = body


def refuse(status: int, code: str, description: str, kind: str = "General", recovery: str = "") -> Refusal:
    """Build IKS's error answer; `kind` is IBM's `type`."""
    body = {"incidentID": str(uuid.uuid4()), "code": code, "description": description, "type": kind}
    return Refusal(status, {**body, "recoveryCLI": recovery} if recovery else body)


def no_cluster() -> Refusal:
    return refuse(
        404,
        "G0004",
        "The specified cluster could not be found. If applicable, make sure that you target the correct account "
        "and resource group.",
        recovery="To list the clusters you have access to, run 'ibmcloud ks cluster ls'.",
    )


def no_worker() -> Refusal:
    return refuse(404, UNKNOWN_CODE, "The specified worker node could not be found.", "Provisioning")


def no_pool() -> Refusal:
    return refuse(404, UNKNOWN_CODE, "The specified worker pool could not be found.", "Provisioning")


def bad_token() -> Refusal:
    return refuse(
        401,
        "A0003",
        "The IAM token could not be verified. It is invalid or has expired.",
        "Authentication",
        "To log in again, run 'ibmcloud login'.",
    )


def bad_request(description: str, code: str = UNKNOWN_CODE) -> Refusal:
    return refuse(400, code, description, "BadRequest")


def master_busy() -> Refusal:
    return bad_request("The cluster master must be in the deployed state before this operation can start.", "Ef9cc")


def busy(description: str) -> Refusal:
    return refuse(409, UNKNOWN_CODE, description, "Conflict")
