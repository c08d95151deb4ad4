"""PodDisruptionBudget statuses against those recorded from a control plane v1.36.2."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sandbox.controllers.disruption import status_of

Json = dict[str, Any]

CASES = json.loads((Path(__file__).parent / "test_controllers_budgets.json").read_text(encoding="utf-8"))
OWNER = {"metadata": {"uid": "rs"}, "spec": {"replicas": 0}}
NOW = datetime(2026, 12, 1, tzinfo=UTC)


def _pod(number: int, *, healthy: bool) -> Json:
    owners = [{"uid": "rs", "controller": True}]
    rows = [{"type": "Ready", "status": "True" if healthy else "False"}]
    meta = {"name": f"p{number}", "uid": f"u{number}", "ownerReferences": owners}
    return {"metadata": meta, "spec": {}, "status": {"phase": "Running", "conditions": rows}}


def _budget(spec: Json, **status: Any) -> Json:
    return {"metadata": {"name": "b", "generation": 1}, "spec": spec, "status": status}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_given_recorded_pods_when_a_budget_is_counted_then_the_status_is_the_recorded_one(case: Json) -> None:
    found = re.match(r"(\d) of (\d) healthy", case["case"])
    assert found is not None
    healthy, total = int(found[1]), int(found[2])
    mine = [_pod(number, healthy=number < healthy) for number in range(total)]
    scales = {"rs": {**OWNER, "spec": {"replicas": total}}}

    status = status_of(_budget(case["spec"]), mine, scales, NOW)

    row = status["conditions"][0]
    assert {key: status[key] for key in case["status"]} == case["status"]
    assert [row["status"], row["reason"]] == case["condition"]


def test_given_an_accepted_eviction_when_counted_then_its_pod_is_not_healthy_until_it_goes() -> None:
    mine = [_pod(number, healthy=True) for number in range(3)]
    budget = _budget({"minAvailable": 2}, disruptedPods={"p0": "2026-11-30T23:59:30Z"})

    status = status_of(budget, mine, {}, NOW)

    assert status["currentHealthy"] == 2
    assert status["disruptionsAllowed"] == 0
    assert status["disruptedPods"] == {"p0": "2026-11-30T23:59:30Z"}


def test_given_an_eviction_that_came_to_nothing_when_two_minutes_passed_then_it_is_forgotten() -> None:
    mine = [_pod(number, healthy=True) for number in range(3)]
    budget = _budget({"minAvailable": 2}, disruptedPods={"p0": "2026-11-30T23:57:00Z"})

    status = status_of(budget, mine, {}, NOW)

    assert status["disruptionsAllowed"] == 1
    assert status["disruptedPods"] == {}


def test_given_no_pod_when_counted_then_nothing_may_be_disrupted() -> None:
    status = status_of(_budget({"maxUnavailable": 1}), [], {}, NOW)

    assert (status["expectedPods"], status["disruptionsAllowed"]) == (0, 0)
