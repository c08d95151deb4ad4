"""Both worked examples once more, on a real control plane: what is asserted of them on the emulator holds here too.

The scheduler, the controller manager and the API server are real; only kubelets, the GPU Operator with its operands and
IBM's machines are played.
"""

from functools import partial

import pytest

from tests.flows import examples
from tests.flows.recording import Record, recorded
from tests.flows.test_examples import (
    test_given_an_example_when_labelled_then_both_labels_go_in_one_patch,
    test_given_an_example_when_played_then_each_change_is_made_once,
    test_given_an_example_when_played_then_it_ends_well,
    test_given_an_example_when_played_then_labels_helm_master_replace_come_in_this_order,
    test_given_an_example_when_played_then_one_worker_at_a_time_is_away,
    test_given_one_worker_when_played_then_a_pool_stands_in_meanwhile,
    test_given_two_workers_when_played_then_each_is_replaced_and_closed_before_and_its_pods_moved,
    test_given_two_workers_when_replaced_then_the_order_says_update,
)
from tests.flows.test_messages import (
    test_given_an_example_when_cards_are_answered_then_they_lose_their_buttons,
    test_given_an_example_when_it_goes_on_then_one_message_is_edited,
    test_given_an_example_when_it_speaks_then_slack_accepts_every_message,
    test_given_an_example_when_over_then_each_message_was_posted_once,
    test_given_an_example_when_things_happen_then_people_are_told,
)
from tests.sandbox.control_plane import assets

__all__ = [
    "test_given_an_example_when_cards_are_answered_then_they_lose_their_buttons",
    "test_given_an_example_when_it_goes_on_then_one_message_is_edited",
    "test_given_an_example_when_it_speaks_then_slack_accepts_every_message",
    "test_given_an_example_when_labelled_then_both_labels_go_in_one_patch",
    "test_given_an_example_when_over_then_each_message_was_posted_once",
    "test_given_an_example_when_played_then_each_change_is_made_once",
    "test_given_an_example_when_played_then_it_ends_well",
    "test_given_an_example_when_played_then_labels_helm_master_replace_come_in_this_order",
    "test_given_an_example_when_played_then_one_worker_at_a_time_is_away",
    "test_given_an_example_when_things_happen_then_people_are_told",
    "test_given_one_worker_when_played_then_a_pool_stands_in_meanwhile",
    "test_given_two_workers_when_played_then_each_is_replaced_and_closed_before_and_its_pods_moved",
    "test_given_two_workers_when_replaced_then_the_order_says_update",
]

pytestmark = pytest.mark.control_plane

PLAYS = {
    "example-1": partial(examples.example_1, real=True),
    "example-2": partial(examples.example_2, real=True),
}


def _played(factory: pytest.TempPathFactory, name: str) -> Record:
    assets()
    return recorded(factory, f"real-{name}", PLAYS[name])


@pytest.fixture(scope="session", params=sorted(PLAYS))
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Each example of the guide in turn."""
    return _played(tmp_path_factory, request.param)


@pytest.fixture(scope="session")
def example_1(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """One GPU worker."""
    return _played(tmp_path_factory, "example-1")


@pytest.fixture(scope="session")
def example_2(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Two GPU workers."""
    return _played(tmp_path_factory, "example-2")


def test_given_a_real_control_plane_when_played_then_no_pretend_controller_has_written(example: Record) -> None:
    actors = {row["actor"] for row in example["journal"] if row["system"] == "kubernetes"}

    assert actors & {"system:controller", "system:kube-scheduler"} == set()
    assert {"system:kubelet", "gpu-operator", "ibm-cloud"} <= actors
