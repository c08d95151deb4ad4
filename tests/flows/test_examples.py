"""Both worked examples from `/gpu-migrate start` to the closing report, judged by the world's journal alone."""

from tests.flows.oracle import LABELS, away_at_once, changes, mark_of, only, targets, twice
from tests.flows.recording import Record

FIRST = "test-d8397vk20kb65iocenn0-btspstggput-default-000001e4"
SECOND = "test-d8397vk20kb65iocenn0-btspstggput-default-0000024b"


def test_given_an_example_when_played_then_it_ends_well(example: Record) -> None:
    end = example["views"]["end"]

    assert example["ended"] == "done"
    assert {pod["STATUS"] for pod in end["workloads"]} == {"Running"}
    assert {worker["Version"] for worker in end["workers"]} == {"1.36.0_1507"}
    assert "Migration done" in example["reports"]["report"]


def test_given_an_example_when_played_then_labels_helm_master_replace_come_in_this_order(example: Record) -> None:
    calls = changes(example["journal"])
    labels, helm = only(calls, "label"), only(calls, "create secrets")
    master, replace = only(calls, "updateMaster"), only(calls, "replaceWorker")
    operator = [call for call in calls if call.target == "gpu-operator/gpu-operator"]

    assert max(call.seq for call in labels) < helm[0].seq < min(call.seq for call in operator)
    assert max(call.seq for call in (*helm, *operator)) < master[0].seq < replace[0].seq


def test_given_an_example_when_labelled_then_both_labels_go_in_one_patch(example: Record) -> None:
    patches = {call.seq for call in only(changes(example["journal"]), "label")}
    bodies = [row["request"]["body"]["metadata"]["labels"] for row in example["journal"] if row["seq"] in patches]

    assert bodies
    assert all(body == LABELS for body in bodies)


def test_given_an_example_when_played_then_each_change_is_made_once(example: Record) -> None:
    assert twice(changes(example["journal"])) == {}


def test_given_an_example_when_played_then_one_worker_at_a_time_is_away(example: Record) -> None:
    assert away_at_once(example["journal"], example["cluster"]) == 1


def test_given_one_worker_when_played_then_a_pool_stands_in_meanwhile(example_1: Record) -> None:
    calls = changes(example_1["journal"])
    made, removed = only(calls, "createWorkerPool"), only(calls, "removeWorkerPool")
    replace = only(calls, "replaceWorker")
    ready = next(row["seq"] for row in example_1["journal"] if row["verb"] == "worker.normal")
    body = next(row["request"]["body"] for row in example_1["journal"] if row["seq"] == made[0].seq)

    assert (len(made), len(removed), [call.target for call in replace]) == (1, 1, [FIRST])
    assert made[0].seq < ready < replace[0].seq < removed[0].seq
    assert made[0].target == removed[0].target
    assert example_1["run"] in body["name"]
    assert not set(LABELS) & set(body.get("labels", {}))


def test_given_two_workers_when_played_then_each_is_replaced_and_closed_before_and_its_pods_moved(
    example_2: Record,
) -> None:
    calls = changes(example_2["journal"])
    replaced = only(calls, "replaceWorker")
    burned = [call.seq for call in only(calls, "evict pods") if call.target.startswith("default/gpu-burn")]

    assert [call.target for call in replaced] == [FIRST, SECOND]
    assert targets(calls, "cordon") == ["10.240.0.64", "10.240.0.66"]
    assert burned[0] < replaced[0].seq < burned[1] < replaced[1].seq
    assert targets(calls, "createWorkerPool", "removeWorkerPool", "uncordon", "unlabel") == []


def test_given_two_workers_when_replaced_then_each_node_carried_the_mark_of_its_order_before(example_2: Record) -> None:
    rows = [row for row in example_2["journal"] if row["verb"] == "replaceWorker" or mark_of(row)]
    marked = [row for row in rows if mark_of(row)]

    assert [row["verb"] for row in rows] == ["patch nodes", "replaceWorker"] * 2
    assert [row["target"] for row in marked] == ["10.240.0.64", "10.240.0.66"]
    assert {mark_of(row)["gpu-migrate/run"] for row in marked} == {example_2["run"]}
    assert all(mark_of(row)["gpu-migrate/fence"] and mark_of(row)["gpu-migrate/op"] for row in marked)


def test_given_two_workers_when_replaced_then_the_order_says_update(example_2: Record) -> None:
    bodies = [row["request"]["body"] for row in example_2["journal"] if row["verb"] == "replaceWorker"]

    assert [body["update"] for body in bodies] == [True, True]
