"""A taint, the same on an IKS pool and on a Kubernetes node."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Taint:
    key: str
    value: str
    effect: str
