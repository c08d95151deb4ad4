"""Read Kubernetes versions in the spellings of IKS, kubelets and API servers.

Seen: `1.35.4_1528` (IKS build), `1.36.3_1525 (pending)`, `v1.35.4+IKS` (kubelet and API server), `1.36` and `-`/empty
while a worker is being provisioned (reference: IKS API sheet 1.1, 1.4; B052).
"""

import re
from dataclasses import dataclass

_FORM = re.compile(r"^v?(\d+)\.(\d+)(?:\.(\d+))?(?:[_+-]([0-9A-Za-z.+_-]+))?(\s+\(pending\))?\s*$")


@dataclass(frozen=True, slots=True, order=True)
class KubeVersion:
    """A version without its build. Ordered by major, minor, patch."""

    major: int
    minor: int
    patch: int = 0

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @property
    def minor_text(self) -> str:
        """`1.36`."""
        return f"{self.major}.{self.minor}"


def parse_version(text: str) -> KubeVersion | None:
    """Read a version in any known spelling; None when there is none (`-`, empty) or it cannot be read."""
    match = _FORM.match(text.strip())
    if match is None:
        return None
    return KubeVersion(int(match[1]), int(match[2]), int(match[3] or 0))


def runs_minor(text: str, minor: str) -> bool:
    """Tell whether a version text belongs to `minor` ("1.36")."""
    version = parse_version(text)
    return version is not None and version.minor_text == minor


def is_pending(text: str) -> bool:
    """Tell whether IKS marks this version as still being rolled out."""
    return text.rstrip().endswith("(pending)")
