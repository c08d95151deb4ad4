"""Where the programs of a real control plane are. Building them is a matter of tools/, running them of plane.py."""

import os
from collections.abc import Mapping
from pathlib import Path

GIVEN = "KUBEBUILDER_ASSETS"
SERVER = ("etcd", "kube-apiserver")  # without the others the sandbox's own controllers run as clients
MANAGER, SCHEDULER = "kube-controller-manager", "kube-scheduler"


class NoBinariesError(RuntimeError):
    """There is no real control plane on this machine; the text says how to get one."""


def find(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder of KUBEBUILDER_ASSETS, else that of the newest release that `make control-plane` has built.

    Raises NoBinariesError.
    """
    given = environment.get(GIVEN, "")
    if given:
        missing = [name for name in SERVER if not Path(given, name).exists()]
        if missing:
            raise NoBinariesError(f"{GIVEN}={given} lacks {' and '.join(missing)}")
        return Path(given).resolve()
    base = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    built = Path(base, "gpu-migrate", "control-plane").glob("v*")
    complete = [folder for folder in built if all((folder / name).exists() for name in SERVER)]
    if not complete:
        raise NoBinariesError(f"no real control plane is here: set {GIVEN} or run `make control-plane`")
    return max(complete, key=_release)


def _release(folder: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in folder.name.lstrip("v").split(".") if part.isdigit())
