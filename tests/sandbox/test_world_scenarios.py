"""Scenario files describe worlds that can exist."""

from pathlib import Path

import pytest

from sandbox.iks.cloud import Cloud
from sandbox.journal import Journal
from sandbox.scenario import FOLDER, load

NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("name", NAMES)
def test_given_a_scenario_when_loaded_then_ids_are_its_own_and_pools_are_full(name: str) -> None:
    scenario = load(name, speed=60.0)
    cloud = Cloud(scenario, Journal(), {})
    clusters = list(cloud.clusters.values())
    pools = [(cluster, pool) for cluster in clusters for pool in cluster.pools.values()]

    assert len(clusters) == len(scenario.clusters) == len({cluster.name for cluster in clusters})
    assert len({pool.id for _, pool in pools}) == len(pools)
    for cluster, pool in pools:
        assert len(cluster.workers_of(pool)) == sum(zone.wanted for zone in pool.zones)
        assert all(worker.settled for worker in cluster.workers_of(pool))


def test_given_the_guide_when_loaded_then_workers_are_those_it_prints() -> None:
    one, two = load("guide-example-1").clusters[0], load("guide-example-2").clusters[0]

    assert [(w.id[-8:], w.ip) for w in one.pools[0].workers] == [("000001e4", "10.240.0.64")]
    assert [(w.id[-8:], w.ip) for w in one.successors] == [("00000371", "10.240.0.72"), ("00000485", "10.240.0.68")]
    assert [(w.id[-8:], w.ip) for w in two.pools[0].workers] == [
        ("000001e4", "10.240.0.64"),
        ("0000024b", "10.240.0.66"),
    ]
    assert [(w.id[-8:], w.ip) for w in two.successors] == [("00000371", "10.240.0.72"), ("0000048c", "10.240.0.73")]


def test_given_an_unknown_name_when_loaded_then_the_known_ones_are_told() -> None:
    with pytest.raises(FileNotFoundError, match="guide-example-1"):
        load("atlantis")


def test_given_a_speed_when_loaded_then_durations_shrink(tmp_path: Path) -> None:
    copy = tmp_path / "own.yaml"
    copy.write_text("name: own\ntitle: Own\nclusters: []\ndurations: {driver: 60}\n")

    assert (load(str(copy), 60).seconds("driver"), load(str(copy)).seconds("driver")) == (1.0, 60.0)
