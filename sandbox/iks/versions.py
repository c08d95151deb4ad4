"""Which Kubernetes versions IBM offers, and which control-plane update it accepts.

Source: reference of the IKS API, sections 1.2, 1.3 and 2.2 (one minor at a time, no way back, workers at most two
minors behind).
"""

import re
from datetime import UTC, datetime

from sandbox.iks.model import Cluster
from sandbox.iks.refusals import Refusal, bad_request, master_busy
from sandbox.scenario import Scenario

ARGUMENT = re.compile(r"^(\d+)\.(\d+)(?:\.(\d+))?$")
FURTHEST_BEHIND = 2


def minor_of(build: str) -> tuple[int, int]:
    """Major and minor of `1.36.0_1506` or `1.36`."""
    major, minor = build.split("_", maxsplit=1)[0].split(".")[:2]
    return int(major), int(minor)


def dotted(minor: tuple[int, int]) -> str:
    return f"{minor[0]}.{minor[1]}"


def offered(scenario: Scenario) -> tuple[str, ...]:
    """Versions that a master may be updated to: listed, and not past their end."""
    today = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S+0000")
    return tuple(
        f"{row['major']}.{row['minor']}.{row['patch']}"
        for row in scenario.versions
        if not row["end_of_service"] or row["end_of_service"] > today
    )


def newest(scenario: Scenario, minor: tuple[int, int]) -> str | None:
    """Newest offered patch of `minor`."""
    patches = [version for version in offered(scenario) if minor_of(version) == minor]
    return max(patches, key=lambda version: int(version.rsplit(".", 1)[1]), default=None)


def master_build(scenario: Scenario, version: str) -> str:
    """Build a master of `version` gets; made up where the scenario names none."""
    return scenario.master_builds.get(version, f"{version}_{1500 + int(version.rsplit('.', 1)[1])}")


def worker_build(scenario: Scenario, minor: tuple[int, int]) -> str:
    """Build a new worker of `minor` gets."""
    return scenario.worker_builds.get(dotted(minor), f"{newest(scenario, minor) or dotted(minor) + '.0'}_1500")


def target_of(scenario: Scenario, cluster: Cluster, argument: str, *, force: bool) -> str:
    """Resolve the `version` of an update to a build.

    Raises Refusal when IBM would not start it.
    """
    if cluster.master.busy:
        raise master_busy()
    version = _resolve(scenario, argument)
    now, then = minor_of(cluster.master.version), minor_of(version)
    build = master_build(scenario, version)
    if then not in (now, (now[0], now[1] + 1)) or _patch(build) <= _patch(cluster.master.version):
        raise bad_request(
            f"The cluster master cannot be updated from version {cluster.master.version} to {version}: "
            "only newer patches and the next minor version are supported."
        )
    if not force and any(_behind(then, worker.running_build) for worker in cluster.alive()):
        raise bad_request("Worker nodes would be more than two minor versions behind the cluster master.")
    return build


def _resolve(scenario: Scenario, argument: str) -> str:
    match = ARGUMENT.match(argument)
    if match is None:
        raise _unsupported(argument)
    if match[3] is None:
        version = newest(scenario, (int(match[1]), int(match[2])))
    else:
        version = argument if argument in offered(scenario) else None
    if version is None:
        raise _unsupported(argument)
    return version


def _unsupported(argument: str) -> Refusal:
    return bad_request(f"The specified Kubernetes version {argument!r} is not supported.")


def _patch(build: str) -> tuple[int, ...]:
    return tuple(int(part) for part in build.split("_", maxsplit=1)[0].split("."))


def _behind(minor: tuple[int, int], build: str) -> bool:
    return bool(build) and minor[1] - minor_of(build)[1] > FURTHEST_BEHIND
