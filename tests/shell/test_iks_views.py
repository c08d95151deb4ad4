"""IKS's JSON as our values: what is missing is missing, and never an exception."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.iks.views import cluster_refs, listed, master, offered, pool, view, worker
from state.errors import TransientError
from state.snapshot import OfferedVersion, Taint, Zone

CLUSTER = {
    "id": "d8397vk20kb65iocenn0",
    "name": "gpu-lab",
    "region": "us-south",
    "provider": "vpc-gen2",
    "type": "kubernetes",
    "state": "normal",
    "masterKubeVersion": "1.36.3_1525 (pending)",
    "targetVersion": "1.36.3_1525",
    "masterURL": "https://c115.us-south.containers.cloud.ibm.com:31234",
    "serviceEndpoints": {
        "privateServiceEndpointURL": "https://c115.private.us-south.containers.cloud.ibm.com:31234",
        "publicServiceEndpointURL": "https://c115.us-south.containers.cloud.ibm.com:31234",
    },
    "lifecycle": {"masterState": "updating", "masterStatus": "Version update in progress", "masterHealth": "normal"},
}
WORKER = {
    "id": "kube-d8397vk20kb65iocenn0-gpulab-default-000001e4",
    "flavor": "gx3.16x80.l4",
    "location": "us-south-1",
    "poolID": "d8397vk20kb65iocenn0-1a2b3c4",
    "poolName": "default",
    "kubeVersion": {"actual": "1.35.4_1528", "desired": "1.35.4_1528", "target": "1.36.2_1524"},
    "lifecycle": {"actualState": "deployed", "desiredState": "deployed", "message": "", "actualOperatingSystem": "U"},
    "health": {"state": "normal", "message": "Ready"},
    "networkInterfaces": [{"ipAddress": "10.9.0.1", "primary": False}, {"ipAddress": "10.240.0.64", "primary": True}],
}  # fmt: skip
POOL = {
    "id": "d8397vk20kb65iocenn0-1a2b3c4",
    "poolName": "default",
    "flavor": "gx3.16x80.l4",
    "vpcID": "r006-1111",
    "workerCount": 1,
    "operatingSystem": "UBUNTU_24_64",
    "autoscaleEnabled": False,
    "isBalanced": False,
    "labels": {"ibm-cloud.kubernetes.io/worker-pool-id": "x", "team": "vision"},
    "taints": {"nvidia.com/gpu": "present:NoSchedule"},
    "lifecycle": {"actualState": "active", "desiredState": "active"},
    "zones": [
        {"id": "us-south-1", "workerCount": 1, "autobalanceEnabled": True,
         "subnets": [{"id": "0717-bbbb", "primary": False}, {"id": "0717-aaaa", "primary": True}]},
        {"id": "us-south-2", "workerCount": 2, "autobalanceEnabled": True, "subnets": [{"id": "0727-cccc"}]},
    ],
}  # fmt: skip


def test_given_an_updating_cluster_when_projected_then_pending_and_words_are_kept() -> None:
    found = master(CLUSTER, "private")

    assert (found.version, found.pending) == ("1.36.3_1525", True)
    assert (found.state, found.status, found.health) == ("updating", "Version update in progress", "normal")
    assert found.endpoint == "https://c115.private.us-south.containers.cloud.ibm.com:31234"


def test_given_a_v1_answer_when_projected_then_the_state_at_its_top_counts() -> None:
    found = master({"masterKubeVersion": "1.35.4_1528", "masterState": "deployed", "serverURL": "https://x"}, "vpe")

    assert (found.state, found.pending, found.endpoint) == ("deployed", False, "https://x")


def test_given_a_worker_when_projected_then_fields_are_renamed_and_words_verbatim() -> None:
    found = worker(WORKER)

    assert (found.ip, found.zone, found.pool_id) == ("10.240.0.64", "us-south-1", "d8397vk20kb65iocenn0-1a2b3c4")
    assert (found.version, found.target_version) == ("1.35.4_1528", "1.36.2_1524")
    assert found.normal
    assert found.message == "Ready"


@pytest.mark.parametrize("words", ["Deployed", "provision_pending", "some_new_word", "READY"])
def test_given_unknown_states_when_projected_then_they_are_not_yet_normal(words: str) -> None:
    """B053."""
    found = worker({**WORKER, "lifecycle": {"actualState": words}})

    assert found.state == words
    assert not found.normal


def test_given_a_worker_being_made_when_projected_then_it_has_no_version_and_no_ip() -> None:
    row = {
        "id": "w2",
        "kubeVersion": {"actual": "-"},
        "lifecycle": {"actualState": "provisioning", "message": "Infrastructure instance status is 'pending'"},
        "health": {"state": "", "message": ""},
        "networkInterfaces": None,
    }
    found = worker(row)

    assert (found.version, found.ip, found.health) == ("", "", "")
    assert found.message == "Infrastructure instance status is 'pending'"


def test_given_a_pool_when_projected_then_zones_count_and_system_labels_go() -> None:
    found = pool(POOL)

    assert found.zones == (Zone("us-south-1", "0717-aaaa", 1), Zone("us-south-2", "0727-cccc", 2))
    assert found.size == 3
    assert found.labels == {"team": "vision"}
    assert found.taints == (Taint("nvidia.com/gpu", "present", "NoSchedule"),)
    assert found.autobalanced is True


@pytest.mark.parametrize(
    ("zones", "expected"),
    [
        ([{"autobalanceEnabled": True}, {"autobalanceEnabled": False}], False),
        ([{"autobalanceEnabled": True}, {}], None),
        ([{"autobalanceEnabled": "false"}], False),
        ([], None),
        (None, None),
        ("x", None),
    ],
)
def test_given_what_zones_tell_when_projected_then_silence_is_unknown(zones: Any, expected: bool | None) -> None:
    assert pool({**POOL, "zones": zones}).autobalanced is expected


def test_given_a_zone_without_count_when_projected_then_the_pools_own_counts() -> None:
    assert pool({**POOL, "workerCount": 4, "zones": [{"id": "z"}]}).zones == (Zone("z", "", 4),)


def test_given_both_forms_of_versions_when_read_then_they_are_the_same() -> None:
    row = {"major": 1, "minor": 36, "patch": 3, "default": True, "end_of_service": ""}

    assert offered({"kubernetes": [row], "openshift": [row]}) == offered([row]) == (OfferedVersion(1, 36, 3),)


def test_given_an_openshift_cluster_when_projected_then_it_is_told_by_type_or_version() -> None:
    by_type = view({**CLUSTER, "type": "openshift"}, "public", [], (), ([], []))
    by_version = view({"id": "c", "masterKubeVersion": "4.17.3_1544_openshift"}, "public", [], (), ([], []))

    assert (by_type.offering, by_version.offering) == ("openshift", "openshift")


@pytest.mark.parametrize("body", [{"incidentID": "x", "items": []}, "text", 5, {}], ids=str)
def test_given_a_list_that_is_none_when_read_then_it_is_not_empty_but_unreadable(body: Any) -> None:
    with pytest.raises(TransientError):
        listed(body, "workers")


def test_given_null_when_read_then_the_list_is_empty() -> None:
    assert listed(None) == ()
    assert cluster_refs([{"name": "no id"}, None, 5]) == ()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(
        {"id", "lifecycle", "actualState", "health", "state", "kubeVersion", "actual", "networkInterfaces", "zones",
         "labels", "taints", "subnets", "workerCount", "autobalanceEnabled", "serviceEndpoints", "masterKubeVersion"}
    )), inner, max_size=5),
    max_leaves=12,
)  # fmt: skip


@given(ANYTHING)
def test_given_any_json_when_projected_then_nothing_raises(anything: Any) -> None:
    row = anything if isinstance(anything, dict) else {"id": anything, "zones": anything, "lifecycle": anything}
    seen = view(row, "public", [row], (row,), ([row], [row]))

    assert json.dumps(str(seen))


@pytest.mark.parametrize("gone", sorted(WORKER))
def test_given_a_missing_field_of_a_worker_when_projected_then_the_rest_is_there(gone: str) -> None:
    row = {key: value for key, value in WORKER.items() if key != gone}

    assert worker(row).id == row.get("id", "")
