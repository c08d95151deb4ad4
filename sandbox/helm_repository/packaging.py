"""Chart archives and the index, made in memory from the folder `chart`. Nothing is written to disk."""

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from sandbox.helm_repository.definitions import (
    CLUSTER_POLICY,
    DOMAINS,
    GPU_CLUSTER,
    NFD_DEFINITIONS,
    NVIDIA_DRIVER,
    Definition,
    manifest,
)

FOLDER = Path(__file__).parent / "chart"
NAME = "gpu-operator"
SUBCHART = "charts/node-feature-discovery"


@dataclass(frozen=True, slots=True)
class Release:
    """One version of the chart: what it puts in place of the marks in the folder's files, and which CRDs it brings."""

    version: str
    created: str
    marks: tuple[tuple[str, str], ...]
    definitions: tuple[Definition, ...]


RELEASES = (
    Release(
        "v26.7.0",
        "2026-08-20T10:00:00Z",
        (
            ("driver", "595.91.07"),
            ("manager", "v0.12.0"),
            ("toolkit", "v1.20.0"),
            ("plugin", "v0.20.0"),
            ("dcgm", "4.6.0-1-ubuntu24.04"),
            ("exporter", "4.6.0-4.8.3-distroless"),
            ("mig", "v0.15.0"),
            ("nfd", "0.19.0"),
            ("monitor", "true"),
        ),
        (CLUSTER_POLICY, GPU_CLUSTER, NVIDIA_DRIVER, *DOMAINS),
    ),
    Release(
        "v26.3.3",
        "2026-06-23T10:00:00Z",
        (
            ("driver", "580.126.20"),
            ("manager", "v0.11.0"),
            ("toolkit", "v1.19.1"),
            ("plugin", "v0.19.3"),
            ("dcgm", "4.5.2-1-ubuntu22.04"),
            ("exporter", "4.5.3-4.8.2-distroless"),
            ("mig", "v0.14.2"),
            ("nfd", "0.18.3"),
            ("monitor", "false"),
        ),
        (CLUSTER_POLICY, NVIDIA_DRIVER),
    ),
)


def archive_name(version: str) -> str:
    return f"{NAME}-{version}.tgz"


@cache
def archive(version: str) -> bytes:
    """The chart as helm wants it: a gzipped tar whose bytes are the same every time.

    Raises KeyError for an unknown version.
    """
    release = {one.version: one for one in RELEASES}[version]
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for path, text in sorted(_files(release)):
            content = text.encode()
            entry = tarfile.TarInfo(f"{NAME}/{path}")
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(raw.getvalue(), mtime=0)


def index(base: str) -> str:
    """The repository's index.yaml; archives are found below `base`."""
    entries = [
        {
            "apiVersion": "v2",
            "name": NAME,
            "version": one.version,
            "appVersion": one.version,
            "created": one.created,
            "description": "Stand-in for the NVIDIA GPU Operator chart in a pretend cluster",
            "digest": hashlib.sha256(archive(one.version)).hexdigest(),
            "type": "application",
            "urls": [f"{base}/{archive_name(one.version)}"],
        }
        for one in RELEASES
    ]
    return yaml.safe_dump({"apiVersion": "v1", "entries": {NAME: entries}, "generated": RELEASES[0].created})


def _files(release: Release) -> Iterator[tuple[str, str]]:
    for path in FOLDER.rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8").replace("@{chart}", release.version)
            for mark, value in release.marks:
                text = text.replace(f"@{{{mark}}}", value)
            yield path.relative_to(FOLDER).as_posix(), text
    for one in release.definitions:
        yield f"crds/{one.group}_{one.plural}.yaml", yaml.safe_dump(manifest(one), sort_keys=False)
    for one in NFD_DEFINITIONS:
        yield f"{SUBCHART}/crds/{one.plural}.yaml", yaml.safe_dump(manifest(one), sort_keys=False)
