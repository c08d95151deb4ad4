"""Provide a real control plane for the tests marked `control_plane`: `python tools/build_control_plane.py`.

Prints the folder that holds etcd, kube-apiserver, kube-controller-manager and kube-scheduler. KUBEBUILDER_ASSETS wins
where it is set and complete; else the binaries are built from the Go modules named in tools/control-plane/go.mod, once,
into a cache outside the tree. That takes a long time and some gigabytes; nothing else depends on it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

MODULE = Path(__file__).parent / "control-plane"
RELEASE = "v1.36.2"
PACKAGES = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
}
ENOUGH = ("etcd", "kube-apiserver")  # without the others the sandbox's own controllers run as clients
LONGEST = 3600  # seconds one binary may take


def main() -> None:
    """Print the folder; exit with a sentence when it cannot be had."""
    given = os.environ.get("KUBEBUILDER_ASSETS", "")
    if given:
        missing = [name for name in ENOUGH if not Path(given, name).exists()]
        if missing:
            sys.exit(f"KUBEBUILDER_ASSETS={given} lacks {' and '.join(missing)}")
        print(given)
        return
    folder = cache()
    folder.mkdir(parents=True, exist_ok=True)
    for name, package in PACKAGES.items():
        if not (folder / name).exists():
            build(package, folder / name)
    print(folder)


def cache() -> Path:
    """Where built binaries are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base, "gpu-migrate", "control-plane", RELEASE)


def flags() -> str:
    """Linker flags that stamp the release, as upstream's own build does."""
    major, minor, _ = RELEASE.lstrip("v").split(".")
    stamps = {"gitVersion": RELEASE, "gitMajor": major, "gitMinor": minor}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return " ".join(
        ["-s -w", *(f"-X {package}.{key}={value}" for package in packages for key, value in stamps.items())]
    )


def build(package: str, target: Path) -> None:
    """Build one binary; what go says goes to the terminal."""
    go = shutil.which("go")
    if go is None:
        sys.exit("neither KUBEBUILDER_ASSETS nor go is there: install Go 1.26 or set KUBEBUILDER_ASSETS")
    print(f"building {target.name} {RELEASE}; this takes minutes", file=sys.stderr, flush=True)
    unfinished = target.with_suffix(".part")
    words = [go, "build", "-trimpath", "-ldflags", flags(), "-o", str(unfinished), package]
    environment = {**os.environ, "CGO_ENABLED": "0"}
    try:
        subprocess.run(words, cwd=MODULE, check=True, timeout=LONGEST, env=environment)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        sys.exit(f"cannot build {package}: {error}; set KUBEBUILDER_ASSETS to a folder with the binaries instead")
    unfinished.rename(target)


if __name__ == "__main__":
    main()
