"""Ask the API server what we may do (SelfSubjectAccessReview). Nothing is changed by asking."""

from dataclasses import dataclass

from bot.adapters.kubernetes.bodies import access_review
from bot.adapters.kubernetes.connection import Call, Connection
from bot.adapters.kubernetes.fields import Json, table
from bot.adapters.kubernetes.marker import NAME as MARKER
from bot.adapters.kubernetes.together import together

PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@dataclass(frozen=True, slots=True)
class Right:
    """A permission. `group`: API group, "" for core. `name`: one object, "" for all."""

    verb: str
    resource: str
    group: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        tail = f"/{self.subresource}" if self.subresource else ""
        return f"{self.verb} {self.resource}{tail}"

    @property
    def review(self) -> Json:
        attributes = {"verb": self.verb, "group": self.group, "resource": self.resource}
        if self.subresource:
            attributes["subresource"] = self.subresource
        if self.namespace:
            attributes["namespace"] = self.namespace
        if self.name:
            attributes["name"] = self.name
        return access_review(attributes)


def needed(marker_namespace: str) -> tuple[Right, ...]:
    """List what a migration needs. Installing the chart needs far more and is not asked here."""
    return (
        Right("get", "nodes"),
        Right("watch", "nodes"),
        Right("patch", "nodes"),
        Right("watch", "pods"),
        Right("get", "pods"),
        Right("create", "pods", subresource="eviction"),
        Right("get", "secrets"),
        Right("get", "leases", "coordination.k8s.io", namespace=marker_namespace, name=MARKER),
        Right("create", "leases", "coordination.k8s.io", namespace=marker_namespace),
        Right("update", "leases", "coordination.k8s.io", namespace=marker_namespace, name=MARKER),
    )


@dataclass(frozen=True, slots=True)
class Denied:
    """What we may not do. `complete`: whether every question got an answer."""

    rights: tuple[str, ...]
    complete: bool = True


async def denied(connection: Connection, rights: tuple[Right, ...]) -> Denied:
    """Ask for each right. A question that the server does not answer counts as unknown, not as denied."""
    answers = await together(*(_allowed(connection, right) for right in rights))
    missing = tuple(str(right) for right, allowed in zip(rights, answers, strict=True) if allowed is False)
    return Denied(missing, None not in answers)


async def _allowed(connection: Connection, right: Right) -> bool | None:
    answer = await connection.call(Call("POST", PATH, body=right.review, safe=True))
    allowed = table(answer.body, "status").get("allowed") if answer.good else None
    return allowed if isinstance(allowed, bool) else None
