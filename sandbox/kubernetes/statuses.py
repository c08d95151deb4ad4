"""Status bodies of refusals, in the words of a real server.

Only shapes and sentences stand here; when something is refused is decided by the callers. Sentences are those of the
recorded answers of v1.36.2, since clients match on reason, details and sometimes on the text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class ApiError(Exception):
    """A refusal that ends the request with a Status body."""

    def __init__(self, code: int, reason: str, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.metadata: dict[str, Any] = {}
        self.headers: dict[str, str] = {}

    def body(self) -> dict[str, Any]:
        """The Status object to send."""
        status: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": self.metadata, "status": "Failure"}
        if self.message:
            status["message"] = self.message
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        return {**status, "code": self.code}


class PlainNotFoundError(Exception):
    """A path nobody serves: a 404 in plain text, as the real server's HTTP mux gives it."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One fault in a body. `reason`: FieldValueInvalid, FieldValueRequired …"""

    field: str
    reason: str
    message: str

    def as_json(self) -> dict[str, str]:
        return {"reason": self.reason, "message": self.message, "field": self.field}


def required(field: str, text: str = "") -> Cause:
    return Cause(field, "FieldValueRequired", "Required value" + (f": {text}" if text else ""))


def bad_value(field: str, shown: str, text: str) -> Cause:
    """`shown` is the value as Go prints it (a string with its quotes)."""
    return Cause(field, "FieldValueInvalid", f"Invalid value: {shown}: {text}")


def unsupported(field: str, shown: str, allowed: Sequence[str]) -> Cause:
    listed = ", ".join(f'"{word}"' for word in allowed)
    return Cause(field, "FieldValueNotSupported", f"Unsupported value: {shown}: supported values: {listed}")


def forbidden_field(field: str, text: str) -> Cause:
    return Cause(field, "FieldValueForbidden", f"Forbidden: {text}")


def duplicate(field: str, shown: str) -> Cause:
    return Cause(field, "FieldValueDuplicate", f"Duplicate value: {shown}")


def details_of(kind: str, name: str = "", group: str = "") -> dict[str, Any]:
    """Details with only the fields that are set."""
    fields = {"name": name, "group": group, "kind": kind}
    return {key: value for key, value in fields.items() if value}


def qualified(plural: str, group: str) -> str:
    return f"{plural}.{group}" if group else plural


def not_found(plural: str, group: str, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{qualified(plural, group)} "{name}" not found', details_of(plural, name, group))


def unknown_resource() -> ApiError:
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def method_not_allowed() -> ApiError:
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def already_exists(plural: str, group: str, name: str) -> ApiError:
    text = f'{qualified(plural, group)} "{name}" already exists'
    return ApiError(409, "AlreadyExists", text, details_of(plural, name, group))


def conflict(plural: str, group: str, name: str, why: str) -> ApiError:
    text = f'Operation cannot be fulfilled on {qualified(plural, group)} "{name}": {why}'
    return ApiError(409, "Conflict", text, details_of(plural, name, group))


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def internal(message: str) -> ApiError:
    """A 500 without reason, as Go errors without a Status become."""
    return ApiError(500, "", message)


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def unsupported_media(message: str = "415: Unsupported Media Type", *, bare: bool = False) -> ApiError:
    return ApiError(415, "UnsupportedMediaType", message, None if bare else {})


def rejected_patch() -> ApiError:
    """A JSON patch that parses but does not fit the object."""
    return ApiError(422, "Invalid", "the server rejected our request due to an error in our request", {})


def invalid(kind: str, group: str, name: str, causes: Sequence[Cause]) -> ApiError:
    """A 422 with its causes; the sentence names each different fault once."""
    faults = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in causes))
    text = faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
    details = {**details_of(kind, name, group), "causes": [cause.as_json() for cause in causes]}
    return ApiError(422, "Invalid", f'{qualified(kind, group)} "{name}" is invalid: {text}', details)


def invalid_options(kind: str, causes: Sequence[Cause]) -> ApiError:
    """A 422 about query parameters; `kind` is ListOptions, CreateOptions …"""
    return invalid(kind, "meta.k8s.io", "", causes)


def expired(message: str, token: str = "") -> ApiError:
    error = ApiError(410, "Expired", message)
    if token:
        error.metadata = {"continue": token}
    return error


def too_many(cause: str, retry_after: int | None = None) -> ApiError:
    """An eviction that a disruption budget forbids."""
    details: dict[str, Any] = {"causes": [{"reason": "DisruptionBudget", "message": cause}]}
    text = "Cannot evict pod as it would violate the pod's disruption budget."
    error = ApiError(429, "TooManyRequests", text, details)
    if retry_after is not None:
        details["retryAfterSeconds"] = retry_after
        error.headers["Retry-After"] = str(retry_after)
    return error


def too_large_version(asked: int, current: int) -> ApiError:
    """A list at a resourceVersion that does not exist yet."""
    details = {
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
        "retryAfterSeconds": 1,
    }
    error = ApiError(504, "Timeout", f"Timeout: Too large resource version: {asked}, current: {current}", details)
    error.headers["Retry-After"] = "1"
    return error
