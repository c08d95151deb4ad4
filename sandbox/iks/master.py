"""The control-plane update: pending version, a gap in which the API server refuses, the new version.

Source: reference of the IKS API, section 2.2.
"""

from sandbox.iks.cloud import Cloud
from sandbox.iks.model import Cluster

SHARE_OF_ABORTED = 0.2  # a cancelled or failed update ends after this part of the usual time


def update(cloud: Cloud, cluster: Cluster, build: str) -> None:
    """Start the update to `build`; versions.target_of has accepted it."""
    cluster.master.pending = build
    cluster.master.say("updating", "Version update in progress")
    cloud.background.start(_update(cloud, cluster, build), f"update {cluster.name}")


async def _update(cloud: Cloud, cluster: Cluster, build: str) -> None:
    master = cluster.master
    end = cloud.knobs.next_master_end(cluster.name)
    if end is not None:
        await cloud.pause("master_update", SHARE_OF_ABORTED)
        master.pending = ""
        master.say(end.state, end.message)
        cloud.note(f"master.{end.state}", cluster.id, cluster, message=end.message)
        return
    total, gap = cloud.scenario.seconds("master_update"), cloud.scenario.seconds("master_api_gap")
    halves = max(0.0, total - gap) / 2 / total if total else 0.0
    await cloud.pause("master_update", halves)
    _workers(cluster, "normal", "unknown")
    version = f"v{build.split('_', maxsplit=1)[0]}+IKS"
    await cloud.side(cluster).restart(version, gap, moves=cloud.knobs.endpoint_moves)
    _workers(cluster, "unknown", "normal")
    await cloud.pause("master_update", halves)
    master.version, master.pending = build, ""
    master.say("deployed", "Ready")
    cloud.note("master.updated", cluster.id, cluster, version=build)


def _workers(cluster: Cluster, before: str, after: str) -> None:
    """Let deployed workers read `after`: during the update they may be unknown to IBM."""
    for worker in cluster.alive():
        if worker.state == "deployed" and worker.running_build and worker.health == before:
            worker.health = after
            worker.health_message = "Ready" if after == "normal" else ""
