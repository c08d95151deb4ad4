"""Bodies of what we send, built from the official client's models: strict in what we send, lenient in what we take.

A misspelt field or a wrong type is refused here, before anything leaves (an eviction without a name once ended as a 400,
B073). What the server answers is read as raw JSON elsewhere, since strict models fail on one odd object (B079).
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from kubernetes.aio.client.models.v1_delete_options import V1DeleteOptions
from kubernetes.aio.client.models.v1_eviction import V1Eviction
from kubernetes.aio.client.models.v1_lease import V1Lease
from kubernetes.aio.client.models.v1_lease_spec import V1LeaseSpec
from kubernetes.aio.client.models.v1_object_meta import V1ObjectMeta
from kubernetes.aio.client.models.v1_preconditions import V1Preconditions
from kubernetes.aio.client.models.v1_resource_attributes import V1ResourceAttributes
from kubernetes.aio.client.models.v1_self_subject_access_review import V1SelfSubjectAccessReview
from kubernetes.aio.client.models.v1_self_subject_access_review_spec import V1SelfSubjectAccessReviewSpec

Json = dict[str, Any]
LEASE: Final = "coordination.k8s.io/v1"


def eviction(namespace: str, pod: str, uid: str) -> Json:
    """`policy/v1` Eviction of one pod, by uid, so that a successor of the same name is not meant."""
    return _plain(
        V1Eviction(
            api_version="policy/v1",
            kind="Eviction",
            metadata=V1ObjectMeta(name=pod, namespace=namespace),
            delete_options=V1DeleteOptions(preconditions=V1Preconditions(uid=uid)),
        )
    )


def deletion(uid: str, revision: str) -> Json:
    """DeleteOptions that hold only for exactly this object as it was read."""
    wanted = V1Preconditions(uid=uid, resource_version=revision)
    return _plain(V1DeleteOptions(api_version="v1", kind="DeleteOptions", preconditions=wanted))


def lease(metadata: V1ObjectMeta, holder: str, seconds: int, at: datetime) -> Json:
    """A coordination Lease; the server refuses a renewTime without microseconds."""
    spec = V1LeaseSpec(holder_identity=holder, lease_duration_seconds=max(1, seconds), renew_time=at)
    body = _plain(V1Lease(api_version=LEASE, kind="Lease", metadata=metadata, spec=spec))
    body["spec"]["renewTime"] = micro_time(at)
    return body


def metadata(name: str, namespace: str, annotations: Mapping[str, str], revision: str = "") -> V1ObjectMeta:
    """`revision` "" creates; otherwise the write holds only on that one."""
    return V1ObjectMeta(
        name=name, namespace=namespace, annotations=dict(annotations), resource_version=revision or None
    )


def access_review(attributes: Mapping[str, str]) -> Json:
    """Ask whether we may; `attributes`: verb, group, resource, subresource, namespace, name."""
    return _plain(
        V1SelfSubjectAccessReview(
            api_version="authorization.k8s.io/v1",
            kind="SelfSubjectAccessReview",
            spec=V1SelfSubjectAccessReviewSpec(resource_attributes=V1ResourceAttributes(**attributes)),
        )
    )


def micro_time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _plain(model: Any) -> Json:
    body: Json = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return body
