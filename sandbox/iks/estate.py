"""What the account can order from: zones, subnets, VPCs, flavors and quotas (sections 1.6, 1.7 and 2.4).

Data that no call changes. The VPC's own GPU quota is not here: IKS does not show it.
"""

from typing import Any

from sandbox.iks.calls import Answer, Call, Route
from sandbox.iks.cloud import Cloud

FLAVORS: dict[str, tuple[int, int, int, str]] = {  # cores, GB, GPUs, GPU type
    "bx2.4x16": (4, 16, 0, ""),
    "bx2.8x32": (8, 32, 0, ""),
    "bx2.16x64": (16, 64, 0, ""),
    "gx3.16x80.l4": (16, 80, 1, "L4"),
    "gx3.32x160.2l4": (32, 160, 2, "L4"),
    "gx3.64x320.4l4": (64, 320, 4, "L4"),
    "gx3.24x120.l40s": (24, 120, 1, "L40S"),
    "gx3.48x240.2l40s": (48, 240, 2, "L40S"),
    "gx3d.160x1792.8h100": (160, 1792, 8, "H100"),
    "gx3d.160x1792.8h200": (160, 1792, 8, "H200"),
    "gx2.8x64.v100": (8, 64, 1, "V100"),
}
ZONES = 3


def zone_ids(region: str) -> tuple[str, ...]:
    return tuple(f"{region}-{number + 1}" for number in range(ZONES))


def subnets(cloud: Cloud) -> list[dict[str, Any]]:
    """List every subnet that a pool of the scenario names."""
    known: dict[str, dict[str, Any]] = {}
    for cluster in cloud.clusters.values():
        for pool in cluster.pools.values():
            for zone in pool.zones:
                known.setdefault(zone.subnet, _subnet(cluster.seed.vpc, zone.id, zone.subnet))
    return list(known.values())


def _subnet(vpc: str, zone: str, subnet: str) -> dict[str, Any]:
    return {
        "id": subnet,
        "name": f"{zone}-workers",
        "zone": zone,
        "vpcID": vpc,
        "vpcName": "gpu",
        "ipv4CIDRBlock": f"10.240.{64 * (int(zone[-1]) - 1)}.0/24",
        "availableIPv4AddressCount": 240,
        "totalIPv4AddressCount": 256,
        "publicGatewayID": f"{vpc[:4]}-gateway-{zone[-1]}",
        "publicGatewayName": f"gateway-{zone[-1]}",
    }


def _subnets(call: Call) -> Answer:
    vpc, zone = call.text("vpc"), call.text("zone")
    rows = [row for row in subnets(call.cloud) if vpc in ("", row["vpcID"]) and zone in ("", row["zone"])]
    return Answer(body=rows)


def _zones(call: Call) -> Answer:
    regions = sorted({cluster.seed.region for cluster in call.cloud.clusters.values()})
    return Answer(body=[{"id": zone, "metro": region} for region in regions for zone in zone_ids(region)])


def _vpcs(call: Call) -> Answer:
    clusters = call.cloud.visible(call.group)
    rows = {c.seed.vpc: {"id": c.seed.vpc, "name": "gpu", "resourceGroup": c.seed.resource_group} for c in clusters}
    return Answer(body=list(rows.values()))


def _flavors(_: Call) -> Answer:
    return Answer(body=[_flavor(name, *rest) for name, rest in FLAVORS.items()])


def _flavor(name: str, cores: int, memory: int, gpus: int, kind: str) -> dict[str, Any]:
    return {
        "name": name,
        "provider": "vpc-gen2",
        "architecture": "amd64",
        "deprecated": False,
        "cores": cores,
        "memory": f"{memory}GB",
        "gpus": [{"Count": gpus, "Type": kind}] if gpus else [],
        "os": "UBUNTU_24_64",
        "serverType": "virtual",
        "primaryStorage": "100GB",
        "secondaryStorage": "",
        "networkSpeed": "32Gbps",
        "ocp_unsupported": False,
    }


def _quota(call: Call) -> Answer:
    region = next(iter(call.cloud.clusters.values())).seed.region
    rows = [{"id": region, "quota": 500}]
    return Answer(body=[{"type": kind, "infrastructure": "vpc", "regions": rows} for kind in ("cluster", "worker")])


def _messages(_: Call) -> Answer:
    return Answer(body=[])


ROUTES = (
    Route("GET", "/v2/vpc/getSubnets", _subnets),
    Route("GET", "/v2/vpc/getZones", _zones),
    Route("GET", "/v2/vpc/getVPCs", _vpcs),
    Route("GET", "/v2/getFlavors", _flavors),
    Route("GET", "/v2/getQuota", _quota),
    Route("GET", "/v1/messages", _messages),
    Route("GET", "/v2/getMessages", _messages),
)
