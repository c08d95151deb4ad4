"""A real etcd and kube-apiserver (or all of a control plane) on loopback, for the tests marked `control_plane`.

They run on demand only: with KUBEBUILDER_ASSETS, or with GPU_MIGRATE_CONTROL_PLANE=1 for what `make control-plane` built.
What happens to lie in a cache never decides what a plain test run does; without either the tests skip and say so.
"""

import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.certificates import make_certificates
from sandbox.control_plane.binaries import GIVEN, NoBinariesError, find
from sandbox.control_plane.plane import Plane
from sandbox.control_plane.running import running
from sandbox.tokens import MASTERS, Tokens

SWITCH = "GPU_MIGRATE_CONTROL_PLANE"


def assets() -> Path:
    """The folder with the binaries; skips the test where nobody asked for it, or there is none."""
    if not (os.environ.get(GIVEN) or os.environ.get(SWITCH) == "1"):
        pytest.skip(f"needs a real control plane: set {GIVEN}, or run `make test-control-plane`")
    try:
        return find()
    except NoBinariesError as lacking:
        pytest.skip(str(lacking))


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """One running control plane: addresses, the tokens of an administrator and of somebody without rights."""

    etcd: str
    url: str
    admin: str
    other: str


@asynccontextmanager
async def control_plane(*, controllers: bool = False) -> AsyncIterator[ControlPlane]:
    """A control plane that runs while the context is open; without `controllers` it is its API server alone."""
    tokens = Tokens()
    admin, other = tokens.issue("admin", (MASTERS,)), tokens.issue("migration-bot", ("chatops",))
    with tempfile.TemporaryDirectory() as folder:
        plane = Plane.planned(assets(), Path(folder, "plane"), make_certificates())
        async with running(plane, tokens, bare=not controllers):
            yield ControlPlane(plane.etcd, plane.url, admin, other)
